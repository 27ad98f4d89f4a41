package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/internal/models"
)

var errBroken = errors.New("broken")

func discard(*Row) error { return nil }

// Windows slide by a part of their length, of which there are a thousand at most.
func TestDivide(t *testing.T) {
	for _, c := range []struct {
		window, slide Span
		slides        int
		want          string
	}{
		{Span{Rows: 10}, Span{}, 1, ""},
		{Span{Rows: 1000}, Span{Rows: 1}, 1000, ""},
		{Span{Rows: 1001}, Span{Rows: 1}, 0, "a window is 1001 steps long: want at most 1000"},
		{Span{Rows: 10}, Span{Rows: 4}, 0, "the length of a window has to be a multiple of the step by which it slides"},
		{Span{Rows: 10}, Span{Rows: 20}, 0, "the length of a window has to be a multiple of the step by which it slides"},
		{Span{Rows: 10}, Span{Time: 5}, 0, "windows and the steps by which they slide are both of rows, or both of time"},
	} {
		w := &Watcher{options: Options{Window: c.window, Slide: c.slide}}
		if err := w.divide(); c.want == "" && (err != nil || w.slides != c.slides) || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%v by %v: %d steps, %v, want %s", c.window, c.slide, w.slides, err, c.want)
		}
		path := filepath.Join(t.TempDir(), "none.safetensors")
		if _, err := New(t.Context(), Options{Model: path, Window: c.window, Slide: c.slide}); c.want == "" && !errors.Is(err, fs.ErrNotExist) || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%v by %v, without a model: %v", c.window, c.slide, err)
		}
	}
}

// wide is a model of so many classes and features that gives all classes the same posteriors.
func wide(classes, features int) *models.Labeller {
	l := &models.Labeller{Width: features}
	for k := range classes {
		l.Classes, l.Prior = append(l.Classes, fmt.Sprint(k)), append(l.Prior, 1/float64(classes))
	}
	l.Predict = func(_ context.Context, x blas32.General) (blas32.General, error) {
		return blas32.General{Rows: x.Rows, Cols: classes, Stride: classes, Data: slices.Repeat([]float32{1 / float32(classes)}, x.Rows*classes)}, nil
	}
	return l
}

// Tests of drift look at up to 64 classes, and up to 64 features, which have the same part of the bets.
func TestScores(t *testing.T) {
	for _, c := range []struct{ classes, features, names int }{{64, 64, 128}, {64, 65, 64}, {65, 64, 64}, {65, 65, 0}} {
		l := wide(c.classes, c.features)
		w := &Watcher{options: Options{Model: "m", Window: Span{Rows: 2}, Level: .9}, model: l, Classes: l.Classes}
		if err := w.divide(); err != nil {
			t.Fatal(err)
		}
		err := w.nameScores()
		if len(w.names) != c.names || len(w.weights) != c.names || (err == nil) != (c.names > 0) {
			t.Errorf("%+v: %d names, %d weights, %v", c, len(w.names), len(w.weights), err)
		}
		if err != nil {
			continue
		}
		if math.Abs(floats.Sum(w.weights)-1) > 1e-9 || floats.Max(w.weights) != floats.Min(w.weights) {
			t.Errorf("%+v: weights from %g to %g", c, floats.Min(w.weights), floats.Max(w.weights))
		}
		x := blas32.General{Rows: 3, Cols: c.features, Stride: c.features, Data: make([]float32, 3*c.features)}
		if n, err := add(w, x, nil, nil, discard); n != 3 || err != nil {
			t.Error(n, err)
		}
		if len(w.State.Before) != 2*c.names {
			t.Errorf("%+v: %d scores of two rows", c, len(w.State.Before))
		}
	}
}

// A row without any value has the posteriors that say nothing: the proportions of the model's source.
func TestPredictWithoutValues(t *testing.T) {
	nan := float32(math.NaN())
	w, x := newWatcher(t, Options{Window: Span{Rows: 10}}), blas32.General{Rows: 3, Cols: 2, Stride: 2, Data: []float32{0, 0, nan, nan, 9, 0}}
	p, err := w.Predict(t.Context(), x)
	if err != nil || p.Rows != 3 {
		t.Fatal(p, err)
	}
	for k, share := range prior {
		if p.Data[3+k] != float32(share) {
			t.Errorf("posteriors %v of a row without values, want %v", p.Data[3:6], prior)
		}
	}
	if p.Data[0] < .9 || p.Data[8] < .9 {
		t.Errorf("posteriors %v of the rows beside it", p.Data)
	}
	w.model.Predict = func(context.Context, blas32.General) (blas32.General, error) { return blas32.General{}, errBroken }
	if _, err := w.Predict(t.Context(), x); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	if err := w.Refer(t.Context(), x); !errors.Is(err, errBroken) {
		t.Error(err)
	}
}

// What the model cannot say of rows ends the watch, in the reference and in a window.
func TestModelsThatFail(t *testing.T) {
	x := drawRows(rand.New(rand.NewPCG(1, 7)), 4, prior)
	says := func(p float32) func(context.Context, blas32.General) (blas32.General, error) {
		return func(ctx context.Context, x blas32.General) (blas32.General, error) {
			out, err := lines().Predict(ctx, x)
			out.Data[4] = p
			return out, err
		}
	}
	for _, c := range []struct {
		name         string
		change       func(*Watcher)
		refer, taken string
		rows         int
	}{
		{"nothing", func(*Watcher) {}, "<nil>", "<nil>", 4},
		{"a posterior", func(w *Watcher) { w.model.Predict = says(float32(math.NaN())) }, "row 2: " + ErrPosterior.Error(), ErrPosterior.Error(), 1},
		{"an infinite one", func(w *Watcher) { w.model.Predict = says(float32(math.Inf(1))) }, "row 2: " + ErrPosterior.Error(), ErrPosterior.Error(), 1},
		{"the typicality", func(w *Watcher) {
			w.model.Typicality = func(context.Context, blas32.General, blas32.General) ([]float32, error) { return nil, errBroken }
		}, "broken", "broken", 2},
		{"posteriors that are none", func(w *Watcher) { w.model.Predict = says(-1) }, "<nil>", "labelshift: ", 2},
		{"the level", func(w *Watcher) { w.options.Level = 2 }, "<nil>", "labelshift: an interval of level 2 of 2 rows: give a level between 0 and 1, and a row", 2},
	} {
		w := newWatcher(t, Options{Window: Span{Rows: 2}})
		c.change(w)
		if err := w.Refer(t.Context(), x); fmt.Sprint(err) != c.refer {
			t.Errorf("%s: the reference: %v, want %s", c.name, err, c.refer)
		}
		n, err := add(w, x, nil, nil, discard)
		if got := fmt.Sprint(err); n != c.rows || !strings.HasPrefix(got, c.taken) {
			t.Errorf("%s: %d rows are taken, %v, want %d and %s", c.name, n, err, c.rows, c.taken)
		}
	}
}

// The share of untypical rows of which nothing is known is what chance does not explain.
func TestStrange(t *testing.T) {
	if got := strange(nil); got != 0 {
		t.Errorf("%g of a model that cannot tell", got)
	}
	for untypical, want := range map[float64]float64{0: 0, .15: 0, .16: .11 / .95, .5: .45 / .95, .95: .9 / .95, .96: 1, 1: 1} {
		if got := strange(&untypical); math.Abs(got-want) > 1e-12 {
			t.Errorf("%g of %g untypical rows, want %g", got, untypical, want)
		}
	}
}

// Rows of which nothing is known, and rows without values, may be of any class: the error that is expected says so.
func TestErrorOfStrangeRows(t *testing.T) {
	x, nan := drawRows(rand.New(rand.NewPCG(1, 8)), 400, prior), float32(math.NaN())
	expected := func(untypical *float64, empty int) *Row {
		w := newWatcher(t, Options{Window: Span{Rows: 1000}})
		y := x
		for range empty {
			y.Rows, y.Data = y.Rows+1, append(slices.Clip(y.Data), nan, nan)
		}
		if n, err := add(w, y, nil, nil, discard); n != y.Rows || err != nil {
			t.Fatal(n, err)
		}
		row := &Row{Untypical: untypical}
		if err := w.estimate(row, w.State.Open); err != nil {
			t.Fatal(err)
		}
		return row
	}
	usual := expected(nil, 0)
	if usual.Rows != 400 || usual.Used != 400 || !(usual.ExpectedError > 0 && usual.ExpectedError < .2) {
		t.Fatalf("%+v", usual)
	}
	half := .5
	if got, part := expected(&half, 0), .45/.95; math.Abs(got.ExpectedError-((1-part)*usual.ExpectedError+part*labelshift.Unknown(usual.Shares))) > 1e-9 || got.Upper[2] < usual.Upper[2]+.2 {
		t.Errorf("with half of the rows untypical: %+v", got)
	}
	// 100 of 500 rows without values: four fifths of an error much like that without them, and two fifths.
	if got := expected(nil, 100); got.Empty != 100 || math.Abs(got.ExpectedError-.4-.8*usual.ExpectedError) > .02 {
		t.Errorf("with rows without values: %+v", got)
	}
}

// The gravest that can be said of a window is its verdict.
func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		name    string
		row     Row
		drifted bool // before
		want    Verdict
	}{
		{"nothing", Row{ExpectedError: .05}, false, Good},
		{"doubt", Row{ExpectedError: .3}, false, Doubt},
		{"care", Row{ExpectedError: .15}, false, Care},
		{"rows without values", Row{ExpectedError: .05, Empty: 1}, false, Care},
		{"a change", Row{changed: true, ExpectedError: .3}, false, Change},
		{"drift", Row{changed: true, drifted: true}, false, Drift},
		{"drift before", Row{changed: true}, true, Drift},
	} {
		w := newWatcher(t, Options{Window: Span{Rows: 2}})
		w.State.Drifted = c.drifted
		if w.judge(&c.row); c.row.Verdict != c.want || c.row.Verdict.Alarm() != (c.want == Change || c.want == Drift) {
			t.Errorf("%s: %s, want %s", c.name, c.row.Verdict, c.want)
		}
	}
}

// A line for a person has six classes, and says how many there are besides.
func TestLine(t *testing.T) {
	for classes, want := range map[int]string{2: "1 0.000 (0.000–0.000)\n", 6: "5 0.000 (0.000–0.000)\n", 7: "5 0.000 (0.000–0.000) … 1 class more\n", 9: "5 0.000 (0.000–0.000) … 3 classes more\n"} {
		w, none := &Watcher{Classes: wide(classes, 1).Classes}, make([]float64, classes)
		row, b := &Row{Window: 2, Complete: true, Shares: none, Lower: none, Upper: none}, strings.Builder{}
		if err := w.WriteLine(&b, row); err != nil || !strings.HasSuffix(b.String(), want) {
			t.Errorf("%d classes: %v, %q, want %q", classes, err, b.String(), want)
		}
		if err := w.WriteLine(full{}, row); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("a full disk: %v", err)
		}
	}
}

// full is a disk that takes nothing.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

// A checkpoint that cannot be gone on with is an error, and never found.
func TestResumeThatFails(t *testing.T) {
	w, path := newWatcher(t, Options{Window: Span{Rows: 2}}), filepath.Join(t.TempDir(), "state")
	if place, found, err := w.Resume(path); found || err != nil || place.Offset != 0 {
		t.Error(place, found, err)
	}
	for _, c := range []struct {
		name string
		do   func() error
		want string
	}{
		{"text", func() error { return os.WriteFile(path, []byte("x\n"), 0o666) }, ": is no checkpoint of mars watch, or is damaged: name another file, or remove it to begin anew"},
		{"a state that cannot be", func() error {
			w.State.Shares = []float64{1}
			return w.Save(path, Place{Offset: 7})
		}, ": is damaged or was changed: remove it to begin anew"},
	} {
		if err := c.do(); err != nil {
			t.Fatal(err)
		}
		if place, found, err := w.Resume(path); found || err == nil || err.Error() != path+c.want || place.Offset != 0 {
			t.Errorf("%s: %v, %v, %v\nwant %s", c.name, place, found, err, c.want)
		}
	}
}
