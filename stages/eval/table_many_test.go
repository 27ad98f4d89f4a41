package eval

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"mars.dev/mars/arrowio"
)

// A table of many classes, or of long names, stays one that a person can read.
func TestTableOfManyClasses(t *testing.T) {
	const n = 4096
	classes, confusion := make([]string, n), make([][]int, n)
	for k := range classes {
		classes[k], confusion[k] = fmt.Sprint("class", k), make([]int, n)
		confusion[k][k] = 1
	}
	classes[7] = strings.Repeat("é", 10_000)
	confusion[7][9], confusion[8][9] = 5, 3
	var text strings.Builder
	if err := newMetrics(classes, confusion).WriteTable(&text); err != nil {
		t.Fatal(err)
	}
	got := text.String()
	cut := strings.Repeat("é", 39) + "…"
	largest := "largest confusions, 2 of 2 (--json has the whole matrix of 4096 classes)\n"
	if at := strings.Index(got, largest); at < 0 || !strings.HasPrefix(got[at+len(largest):], "true") ||
		strings.Index(got[at:], cut) > strings.Index(got[at:], "class8") {
		t.Errorf("want %q, the largest first:\n%s", largest, got[max(0, len(got)-300):])
	}
	if strings.Contains(got, cut[:78]+"é") || len(got) > 1<<20 {
		t.Errorf("%d bytes", len(got))
	}
}

// Up to thirty classes are a matrix, and a name of up to forty characters is whole.
func TestTableAtItsLimits(t *testing.T) {
	for _, test := range []struct {
		classes, letters int
		matrix, whole    bool
	}{{30, 40, true, true}, {31, 41, false, false}} {
		classes := names(test.classes)
		classes[1] = strings.Repeat("é", test.letters)
		var text strings.Builder
		if err := newMetrics(classes, confusion(test.classes, []int{0, 1}, []int{1, 1})).WriteTable(&text); err != nil {
			t.Fatal(err)
		}
		got := text.String()
		if matrix := strings.Contains(got, "confusion matrix"); matrix != test.matrix {
			t.Errorf("%d classes: a matrix is %v, want %v", test.classes, matrix, test.matrix)
		}
		if whole := strings.Contains(got, classes[1]); whole != test.whole {
			t.Errorf("a name of %d letters: whole is %v, want %v", test.letters, whole, test.whole)
		}
	}
}

// full is a disk with room for so many bytes.
type full int

func (f *full) Write(b []byte) (int, error) {
	n := min(len(b), int(*f))
	if *f -= full(n); n < len(b) {
		return n, io.ErrShortWrite
	}
	return n, nil
}

// A table of which the end is missing is an error, wherever it ends.
func TestTableIsCut(t *testing.T) {
	value := -.5
	m := newMetrics(names(2), confusion(2, []int{0, 1}, []int{1, 1}))
	m.setProportions(nil, []float64{.5, .5})
	m.Scores = &Scores{Scores: map[string]*float64{"entropy": &value}}
	m.Selection = &arrowio.Selection{Score: "entropy"}
	for _, of := range []interface{ WriteTable(io.Writer) error }{m, m.Scores} {
		var whole strings.Builder
		if err := of.WriteTable(&whole); err != nil {
			t.Fatal(err)
		}
		for n := whole.Len() - 1; n >= 0; n -= 20 {
			room := full(n)
			if err := of.WriteTable(&room); err == nil {
				t.Errorf("%T: no error for %d of %d bytes", of, n, whole.Len())
			}
		}
	}
}
