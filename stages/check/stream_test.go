package check

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/drift"
	"mars.dev/mars/stages/internal/windows"
)

func newStream(t *testing.T, o Options) *Stream {
	t.Helper()
	rng, path := rand.New(rand.NewPCG(1, 1)), filepath.Join(t.TempDir(), "reference.csv")
	text := strings.Builder{}
	text.WriteString("probability_a,probability_b,label\n")
	for range 300 {
		p := rng.Float64()
		label := "a"
		if rng.Float64() > p {
			label = "b"
		}
		fmt.Fprintf(&text, "%g,%g,%s\n", p, 1-p, label)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	o.Columns = Columns{Probability: "probability", Label: "label", Time: o.Columns.Time, ID: "id"}
	s, err := NewStream(t.Context(), stages.Env{}, path, time.Minute, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A stream that is ended and gone on with anywhere gives each window once, as one without an end does:
// also while a row waits for another one that agrees with its time.
func TestRestarts(t *testing.T) {
	o := Options{Window: Span{Time: 10 * time.Minute}, Columns: Columns{Time: "at"}}
	rng := rand.New(rand.NewPCG(2, 2))
	x := blas32.General{Rows: 400, Cols: 3, Stride: 3}
	var times []int64
	for i := range x.Rows {
		p := rng.Float32()
		said := float32(0)
		switch {
		case i%50 == 7:
			said = empty
		case i%50 == 8:
			said = unknown
		case p < .5:
			said = 1
		}
		x.Data = append(x.Data, p, 1-p, said)
		times = append(times, int64(i)*int64(7*time.Second)-rng.Int64N(int64(3*time.Minute))+int64(time.Hour))
	}
	times[100] += int64(1000 * time.Hour) // a wrong clock
	run := func(cuts map[int]bool) (all []*Window) {
		s, path := newStream(t, o), filepath.Join(t.TempDir(), "state")
		write := func(w *Window) error {
			w.estimate = nil
			all = append(all, w)
			return nil
		}
		for i := range x.Rows {
			if cuts[i] {
				if err := s.Save(path, Place{}); err != nil {
					t.Fatal(err)
				}
				s = newStream(t, o)
				if _, found, err := s.Resume(path, "reference.csv"); err != nil || !found {
					t.Fatal(found, err)
				}
			}
			one := blas32.General{Rows: 1, Cols: 3, Stride: 3, Data: x.Data[3*i : 3*i+3]}
			if taken, err := s.Add(t.Context(), one, times[i:i+1], write); err != nil || taken != 1 {
				t.Fatal(taken, err)
			}
		}
		if err := s.Finish(t.Context(), write); err != nil {
			t.Fatal(err)
		}
		return all
	}
	want := run(nil)
	late, rows := int64(0), int64(0)
	for _, w := range want {
		late, rows = late+w.Counts.Late, rows+w.Counts.All
	}
	if len(want) < 4 || late == 0 || rows+late != int64(x.Rows) {
		t.Fatalf("%d windows, %d rows and %d late ones", len(want), rows, late)
	}
	for _, cuts := range []map[int]bool{{0: true, 101: true, 250: true}, {1: true, 57: true, 58: true, 399: true}} {
		if got := run(cuts); !reflect.DeepEqual(got, want) {
			t.Errorf("restarted at %v: %d windows, want %d, or others", cuts, len(got), len(want))
		}
	}
}

// A state that somebody has changed is refused where it would be read beyond its end, or as no class.
func TestStatesThatDoNotFit(t *testing.T) {
	s := newStream(t, Options{Window: Span{Rows: 20}})
	whole := func() *state {
		p := s.c.newPane(0)
		s.c.add(p, windows.Row{Row: []float32{.5, .5, 1}})
		return &state{Panes: windows.Panes[*pane]{Open: []*pane{p}}, Most: s.c.state.Most}
	}
	if !s.fits(whole()) {
		t.Fatal("a whole state is refused")
	}
	for name, change := range map[string]func(*state){
		"no pane":     func(s *state) { s.Open[0] = nil },
		"most":        func(s *state) { s.Open[0].Kept.Most = 1 },
		"all":         func(s *state) { s.Most = 0 },
		"values":      func(s *state) { s.Open[0].Kept.Values = s.Open[0].Kept.Values[:1] },
		"a class":     func(s *state) { s.Open[0].Kept.Values[2] = 2 },
		"no class":    func(s *state) { s.Open[0].Kept.Values[2] = empty },
		"half held":   func(s *state) { s.Held = &windows.Row{Row: []float32{1}} },
		"other class": func(s *state) { s.Held = &windows.Row{Row: []float32{1, 0, -7}} },
		"width":       func(s *state) { s.Open[0].Kept = drift.NewSample(2, s.Most, 0) },
	} {
		is := whole()
		if change(is); s.fits(is) {
			t.Errorf("%s: fits", name)
		}
	}
}

// What a stream knows does not grow with its rows.
func TestBoundedState(t *testing.T) {
	s := newStream(t, Options{Window: Span{Rows: 400_000}})
	x := blas32.General{Rows: 1000, Cols: 3, Stride: 3}
	for range x.Rows {
		x.Data = append(x.Data, .7, .3, 0)
	}
	for range 390 {
		if _, err := s.Add(context.Background(), x, nil, func(*Window) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.c.state.Open[0].Kept.Keys); n > 2*mostWindow || s.Rows() != 390_000 {
		t.Errorf("%d rows are kept of %d", n, s.Rows())
	}
}
