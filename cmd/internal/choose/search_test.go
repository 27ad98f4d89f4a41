package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

func scores(seconds float64, reverse ...float64) (results []result) {
	for _, v := range reverse {
		results = append(results, result{Reverse: v, Seconds: seconds})
	}
	return results
}

// The cheapest is taken of those that are not behind by more than their tasks say, and no
// forward score, which needs labels, enters.
func TestCheapest(t *testing.T) {
	for name, c := range map[string]struct {
		tried []trial
		want  string
	}{
		"the better one":              {[]trial{{candidate{"a"}, scores(1, .8, .7, .9)}, {candidate{"b"}, scores(2, .9, .8, 1)}}, "b"},
		"the cheaper of two alike":    {[]trial{{candidate{"a"}, scores(2, .8, .9, .7)}, {candidate{"b"}, scores(1, .8, .9, .7)}}, "b"},
		"cheaper, behind by one task": {[]trial{{candidate{"a"}, scores(2, .8, .9, .9)}, {candidate{"b"}, scores(1, .8, .9, .8)}}, "b"},
		"cheaper, behind on all":      {[]trial{{candidate{"a"}, scores(2, .8, .9, .7)}, {candidate{"b"}, scores(1, .75, .85, .66)}}, "a"},
	} {
		for i := range c.tried {
			c.tried[i].results[0].Forward = float64(1 - i) // what the target says must not matter
		}
		if got := cheapest(c.tried).candidate.String(); got != c.want {
			t.Errorf("%s: took %s", name, got)
		}
	}
}

// A result that is there is not made again, and a search goes on from its file.
func TestResumes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "choices.jsonl")
	m, task := methods[0], choosingTasks[0]
	text := `{"method":"source","knobs":"40 0.05","task":"` + task.String() + `","reverse":0.7,"forward":0.6,"seconds":2}` + "\n"
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	l := lab{mars: "there-is-no-such-program", path: path, rows: 100, places: make(chan struct{}, 1)}
	if err := l.open(); err != nil {
		t.Fatal(err)
	}
	if r, err := l.result(context.Background(), m, start(m), task); err != nil || r.Reverse != 0.7 {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := l.result(context.Background(), m, candidate{"20", "0.05"}, task); err == nil {
		t.Error("a result that was not there was not made")
	}
}
