package check

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/contexttest"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/internal/labelled"
	"mars.dev/mars/stages/internal/sheet"
	"mars.dev/mars/stages/internal/windows"
)

var errBroken = errors.New("broken")

// A check ends soon after its context, wherever it is: with windows of rows and of time, and labels apart.
func TestStops(t *testing.T) {
	timed := withColumn(predictions, "at", "2026-03-01")
	inFolder(t, map[string]string{"ref.csv": reference, "truth.csv": "id,label\n1,a\n2,a\n3,a\n4,b\n5,b\n6,b\n", "p.csv": timed + "9,.5,.5,2026-03-02\n"})
	for _, o := range []Options{
		options(func(o *Options) { o.Window.Rows, o.Truth = 1, "truth.csv" }),
		options(func(o *Options) { o.Window.Time, o.Columns.Time = 24*time.Hour, "at" }),
	} {
		contexttest.Stops(t, 10, func(ctx context.Context) error {
			_, err := Run(ctx, stages.Env{}, "p.csv", "ref.csv", o)
			return err
		})
	}
}

// An error of who is given the windows ends the check, and so does the end of the context between two windows.
func TestWindowsThatNobodyTakes(t *testing.T) {
	inFolder(t, map[string]string{"ref.csv": reference, "p.csv": withColumn(predictions, "at", "2026-03-01") + "9,.5,.5,2026-03-02\n10,.5,.5,2026-03-03\n"})
	for name, window := range map[string]Span{"rows": {Rows: 1}, "the last rows": {Rows: 3}, "days": {Time: 24 * time.Hour}} {
		for _, refused := range []bool{true, false} {
			ctx, cancel := context.WithCancel(t.Context())
			var given []*Window
			want := context.Canceled
			if refused {
				want = errBroken
			}
			_, err := Run(ctx, stages.Env{}, "p.csv", "ref.csv", options(func(o *Options) {
				o.Window = window
				if window.Time > 0 {
					o.Columns.Time = "at"
				}
				o.Each = func(_ *Report, w *Window) error {
					if given = append(given, w); refused {
						return errBroken
					}
					cancel()
					return nil
				}
			}))
			if !errors.Is(err, want) || len(given) != 1 {
				t.Errorf("%s: %v after %d windows, want %v", name, err, len(given), want)
			}
			cancel()
		}
	}
}

// A reference that another program changes between its two readings gives an error, and no other answer.
func TestReferenceThatChanges(t *testing.T) {
	for name, c := range map[string]struct{ now, want string }{
		"no labels":     {predictions, `ref.csv: has no column "label" (its columns are id, probability_a, probability_b): name the column of labels with --label, or the file that has it with --reference-labels`},
		"another label": {strings.Replace(reference, ",b\n", ",c\n", 1), `ref.csv: row 4, column "label": has a label that was not there before: run again when nothing writes to the file`},
	} {
		inFolder(t, map[string]string{"ref.csv": reference + "7,.5,.5,\n", "p.csv": predictions})
		env := stages.Env{Log: slog.New(told(func(text string) {
			if text != "ref.csv: 1 row has no label and left out" {
				t.Errorf("%s: %s", name, text)
			}
			if err := os.WriteFile("ref.csv", []byte(c.now), 0o666); err != nil {
				t.Error(err)
			}
		}))}
		if _, err := Run(t.Context(), env, "p.csv", "ref.csv", options(nil)); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v\nwant %s", name, err, c.want)
		}
	}
}

// told is a log that is told all that a user is.
type told func(text string)

func (told) Enabled(context.Context, slog.Level) bool { return true }
func (f told) WithAttrs([]slog.Attr) slog.Handler     { return f }
func (f told) WithGroup(string) slog.Handler          { return f }
func (f told) Handle(_ context.Context, r slog.Record) error {
	f(r.Message)
	return nil
}

// Rows without a label or a prediction are none of the reference's.
func TestRowsOfReference(t *testing.T) {
	inFolder(t, map[string]string{"ref.csv": reference + "7,.5,.5,\n8,,.5,a\n9,.5,.5,b\n", "p.csv": predictions})
	report, err := Run(t.Context(), stages.Env{}, "p.csv", "ref.csv", options(nil))
	if err != nil || report.Rows != 7 {
		t.Errorf("%+v, %v", report, err)
	}
}

// Classes that the reference lacks are told of, and a window of nothing else has no figures.
func TestNothingKnown(t *testing.T) {
	inFolder(t, map[string]string{"ref.csv": "said,label\na,a\nb,b\na,b\nb,a\n", "p.csv": "said\nnew\nother\nnew\n"})
	var all []string
	report, err := Run(t.Context(), stages.Env{Log: slog.New(told(func(text string) { all = append(all, text) }))}, "p.csv", "ref.csv", options(func(o *Options) { o.Columns.Prediction = "said" }))
	if err != nil {
		t.Fatal(err)
	}
	if want := "p.csv: predicts classes that the reference lacks: new, other: nothing is known of how right those rows are"; !slices.Contains(all, want) {
		t.Errorf("%q\nwant %s", all, want)
	}
	w := report.Windows[0]
	if want := "Do not believe these figures yet: no row has a prediction that the reference has."; w.Sentence != want || w.Accuracy().Value != nil || w.Counts.Unknown != 3 {
		t.Errorf("%+v\nwant %s", w, want)
	}
}

// Labels that were drawn from another table are refused.
func TestLabelsOfAnotherTable(t *testing.T) {
	inFolder(t, map[string]string{"ref.csv": reference, "p.csv": predictions})
	filled := &sheet.Filled{Path: "ask.csv", Column: "label", Plan: sheet.Plan{Uniform: 1, Target: "another"}, Rows: []sheet.Row{{Order: 1, Label: "a"}}}
	_, err := Run(t.Context(), stages.Env{}, "p.csv", "ref.csv", options(func(o *Options) { o.Target, o.Labels = "p.csv", labelled.Options{Sheet: filled} }))
	if err == nil || !strings.HasPrefix(err.Error(), "ask.csv: has rows of another target than p.csv (code another, and this target has ") {
		t.Error(err)
	}
}

// Standard input without rows is called by its name.
func TestNothingOnStandardInput(t *testing.T) {
	inFolder(t, map[string]string{"ref.csv": reference, "p.arrows": ""})
	var none arrowio.Table
	none.Add("probability_a", arrowio.NewDoubleArray(nil))
	none.Add("probability_b", arrowio.NewDoubleArray(nil))
	writeArrow(t, "p.arrows", none.Record(arrowio.Meta{}))
	in, err := os.Open("p.arrows")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	was := os.Stdin
	defer func() { os.Stdin = was }()
	os.Stdin = in
	_, err = Run(t.Context(), stages.Env{}, "-", "ref.csv", options(nil))
	if want := "standard input: has a header but no rows: give data with at least one"; err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}

// In a stream whoever reads knows the row, so that errors do not number it.
func TestReadOfStream(t *testing.T) {
	s := newStream(t, Options{Window: Span{Rows: 2}, Columns: Columns{Time: "at"}})
	for _, c := range []struct{ a, b, at, want string }{
		{".5", ".5", "60", ""},
		{"x", ".5", "60", `column "probability_a": "x" is not a number: mend or drop the row`},
		{".5", ".25", "60", "the posteriors do not add up to 1 but to 0.75: give those of all classes"},
		{".5", ".5", "noon", `column "at": "noon" is no time from 1970 to 2200: write 2026-03-01T12:00:00Z, or seconds since 1970`},
	} {
		var table arrowio.Table
		table.Add("probability_a", arrowio.NewStringArray([]string{".9", c.a}))
		table.Add("probability_b", arrowio.NewStringArray([]string{".1", c.b}))
		table.Add("at", arrowio.NewStringArray([]string{"0", c.at}))
		x, at, err := s.Read(table.Record(arrowio.Meta{}))
		if c.want != "" {
			if err == nil || err.Error() != c.want {
				t.Errorf("%v\nwant %s", err, c.want)
			}
			continue
		}
		if err != nil || x.Rows != 2 || !slices.Equal(x.Data, []float32{.9, .1, 0, .5, .5, 0}) || !slices.Equal(at, []int64{0, 60e9}) {
			t.Errorf("%v, %v, %v", x, at, err)
		}
	}
	var table arrowio.Table
	table.Add("probability_a", arrowio.NewStringArray(nil))
	if _, _, err := s.Read(table.Record(arrowio.Meta{})); err == nil || !strings.HasPrefix(err.Error(), `has no column "at" `) {
		t.Error(err)
	}
}

// An error of who writes the windows, and the end of the context, end a stream after the row that has ended the
// window.
func TestStreamThatFails(t *testing.T) {
	x := blas32.General{Rows: 5, Cols: 3, Stride: 3}
	for range x.Rows {
		x.Data = append(x.Data, .7, .3, 0)
	}
	written := 0
	write := func(*Window) error { written++; return nil }
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name  string
		ctx   context.Context
		write func(*Window) error
		want  error
	}{
		{"a writer", t.Context(), func(*Window) error { return errBroken }, errBroken},
		{"the context", ended, write, context.Canceled},
	} {
		s := newStream(t, Options{Window: Span{Rows: 2}})
		if taken, err := s.Add(c.ctx, x, nil, c.write); taken != 2 || !errors.Is(err, c.want) {
			t.Errorf("%s: %d rows are taken, %v", c.name, taken, err)
		}
		s = newStream(t, Options{Window: Span{Rows: 9}})
		if taken, err := s.Add(c.ctx, x, nil, c.write); taken != 5 || err != nil {
			t.Errorf("%s: %d rows are taken, %v", c.name, taken, err)
		}
		if err := s.Finish(c.ctx, c.write); !errors.Is(err, c.want) {
			t.Errorf("%s at the end: %v", c.name, err)
		}
	}
	if written != 0 {
		t.Errorf("%d windows", written)
	}
}

// A checkpoint that cannot be gone on with is an error, and never found.
func TestResumeThatFails(t *testing.T) {
	s, path := newStream(t, Options{Window: Span{Rows: 2}}), filepath.Join(t.TempDir(), "state")
	if place, found, err := s.Resume(path, "ref.csv"); found || err != nil || place.Offset != 0 {
		t.Error(place, found, err)
	}
	damage := func() {
		s.c.state.Most = 0
		if err := s.Save(path, Place{Offset: 7}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		do   func()
		want string
	}{
		{"text", func() { os.WriteFile(path, []byte("x\n"), 0o666) }, path + ": is no checkpoint of mars check, or is damaged: name another file, or remove it to begin anew"},
		{"a state that cannot be", damage, path + ": is damaged or was changed: remove it to begin anew"},
	} {
		c.do()
		if place, found, err := s.Resume(path, "ref.csv"); found || err == nil || err.Error() != c.want || place.Offset != 0 {
			t.Errorf("%s: %v, %v, %v\nwant %s", c.name, place, found, err, c.want)
		}
	}
}

// Not more windows of time are open than a stream can hold.
func TestOpenWindows(t *testing.T) {
	s := newStream(t, Options{Window: Span{Time: time.Second}})
	s.c.divider.Wait = forEver
	row := windows.Row{Row: []float32{.5, .5, 0}}
	for i := range int64(mostOpen) + 2 { // the first waits for one that agrees
		row.Time = i * int64(time.Second)
		_, err := s.c.put(t.Context(), row, nil)
		switch n := len(s.c.state.Open); {
		case n <= mostOpen && err != nil:
			t.Fatalf("%d windows: %v", n, err)
		case n > mostOpen && (err == nil || err.Error() != "there are more than 100000 windows of 1s: give a longer --window"):
			t.Errorf("%d windows: %v", n, err)
		}
	}
	if n := len(s.c.state.Open); n != mostOpen+2 {
		t.Errorf("%d windows", n)
	}
}
