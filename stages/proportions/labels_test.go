package proportions

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"gonum.org/v1/gonum/floats"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/ppi"
	"mars.dev/mars/stages/algorithms/unmix"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/labelled"
	"mars.dev/mars/stages/internal/sheet"
)

// twoLevels says that each class is a kind of its own.
const twoLevels = `[{"name":"kind","of":["x","y"]},{"name":"type"}]`

// gaps are rows of which two of the target have no value.
func gaps(t *testing.T) columns {
	t.Helper()
	c := apart()
	v, err := arrowio.VectorColumn(batch(t, rows(c, arrowio.Meta{})), "features")
	if err != nil {
		t.Fatal(err)
	}
	data := slices.Clone(v.Data)
	for i := 44; i < 48; i++ {
		data[i] = float32(math.NaN())
	}
	return c.with("features", arrowio.NewVectorArray(arrowio.Vectors{Data: data, Rows: 24, Width: 2}))
}

// Rows without a value may be of any class: that is told, is part of the error that is expected, and
// the intervals heed it, at each level. Those of all classes at once are wider.
func TestLabelsAndMissingRows(t *testing.T) {
	c, meta := gaps(t), arrowio.Meta{Levels: []byte(twoLevels)}
	o := quick
	o.Level, o.Labels = .5, labelsOf(t, rows(c, meta), "0", "1", "other", "1", "0", "1") // of three classes: two are at once
	each, err := Estimate(t.Context(), env, rows(c, meta), o)
	if err != nil {
		t.Fatal(err)
	}
	o.Simultaneous = true
	all, err := Estimate(t.Context(), env, rows(c, meta), o)
	if err != nil {
		t.Fatal(err)
	}
	missing := 1. / 6
	if l := each.Labelled; math.Abs(l.Missing-missing) > 1e-12 || !slices.Contains(each.Warnings, diagnostics.MissingRows(missing)) {
		t.Errorf("%v are missing, and the warnings are %q", l.Missing, each.Warnings)
	}
	if each.ExpectedError < 2*missing {
		t.Errorf("an error of %v is expected, though one in six rows is missing", each.ExpectedError)
	}
	for l, of := range each.Levels {
		for k := range of.Classes {
			if width := of.Upper[k] - of.Lower[k]; width < missing || width >= all.Levels[l].Upper[k]-all.Levels[l].Lower[k] {
				t.Errorf("%s: %v to %v, and %v to %v at once", of.Classes[k], of.Lower[k], of.Upper[k], all.Levels[l].Lower[k], all.Levels[l].Upper[k])
			}
		}
	}
	coarse, fine := all.Levels[0], all.Levels[1]
	if !floats.EqualApprox(coarse.HoldsLower, fine.HoldsLower, 1e-12) || !floats.EqualApprox(coarse.HoldsUpper, fine.HoldsUpper, 1e-12) {
		t.Errorf("the same classes have other bounds at the coarser level: %v to %v, and %v to %v", coarse.HoldsLower, coarse.HoldsUpper, fine.HoldsLower, fine.HoldsUpper)
	}
}

// What is known of the target's rows before they are looked at is heeded.
func TestHeedRows(t *testing.T) {
	r := reported(.5, .5)
	r.ExpectedError, r.Warnings, r.bounds = .1, []string{"last"}, []levelBounds{{Lower: []float64{.5}, Upper: []float64{.5}}}
	r.heedRows(.25, []string{"first"})
	if want := []string{"first", "last", diagnostics.MissingRows(.25)}; !slices.Equal(r.Warnings, want) {
		t.Errorf("warnings %q, want %q", r.Warnings, want)
	}
	for _, test := range []struct {
		name      string
		got, want float64
	}{
		{"the lower bound", r.Interval.Lower[0], .75 * .25},
		{"the upper bound", r.Interval.Upper[0], .75*.75 + .25},
		{"the lower bound of a level", r.bounds[0].Lower[0], .75 * .5},
		{"the upper bound of a level", r.bounds[0].Upper[0], .75*.5 + .25},
		{"the error that is expected", r.ExpectedError, .75*.1 + 2*.25},
	} {
		if math.Abs(test.got-test.want) > 1e-12 {
			t.Errorf("%s is %v, want %v", test.name, test.got, test.want)
		}
	}
}

// Labels that an assumption does not expect refute it, which the answer says; so do its words of what
// else is in doubt.
func TestLabelsInWords(t *testing.T) {
	var right, wrong [][]float64
	labels := &labelled.Rows{Answers: &sheet.Answers{Filled: &sheet.Filled{}, Classes: []string{"a", "b"}, Source: 2}}
	for range 10 {
		right, wrong = append(right, []float64{.1, .9}), append(wrong, []float64{.999, .001})
		labels.Class = append(labels.Class, 1)
	}
	e := &labelled.Evidence{Views: []labelled.View{{Name: "balance", Weight: .5, Labelled: wrong}, {Name: "same", Weight: .5, Labelled: right}}}
	share := .8
	l := &Labelled{Before: []float64{.9, .1}, Sharper: Sharper{Estimate: []float64{.4, .6}}, Missing: .25, Gaps: []int{3}, NewClasses: []string{"c", "d"},
		Accuracy: &Accuracy{RightShare: RightShare{Share: &share, Interval: ppi.Interval{Lower: .7, Upper: .9}}}}
	l.weigh(labels, e, []float64{.25, .75})
	if len(l.Refuted) != 1 || l.Refuted[0].Name != "balance" || l.Refuted[0].P > .01 {
		t.Fatalf("refuted are %+v, want balance", l.Refuted)
	}
	l.Refuted[0].P = .001
	grounds := "the estimate without labels is off by about 50 of 100 rows; 80 % of the labels that are given without these are right (70 to 90 %); that " + diagnostics.Assumption("balance") + " is refuted (p = 0.001)"
	if got := l.grounds(); got != grounds {
		t.Errorf("the grounds are %s\nwant %s", got, grounds)
	}
	warnings := []string{"1 row was passed over before the last one with a label: if that has to do with their class, the sharper intervals are wrong; those that hold whatever has shifted count such rows as any class",
		diagnostics.MissingRows(.25), "the source has no class c, d: few labels say which rows are of it"}
	if got := l.warnings(); !slices.Equal(got, warnings) {
		t.Errorf("the warnings are %q\nwant %q", got, warnings)
	}
	for n, want := range []string{"", "", "\nThe labels weigh the assumptions anew:\n  balance    0.25, before 0.50\n  same       0.75, before 0.50\n"} {
		var text bytes.Buffer
		if (&Labelled{Views: l.Views[:n]}).writeViews(&text); text.String() != want {
			t.Errorf("%d assumptions: %q, want %q", n, text.String(), want)
		}
	}
}

// A sketch says how many rows there are, and levels have intervals, whichever way the answer came about.
func TestTotalsAndLevels(t *testing.T) {
	meta := arrowio.Meta{Levels: []byte(twoLevels)}
	totals := []string{arrowio.TotalsKey, `{"source":{"rows":40,"classes":{"0":10,"1":30}},"target":{"rows":120}}`}
	r, err := Estimate(t.Context(), env, rows(apart(), meta, totals...), Options{Method: unmix.Method, Level: .9, Bootstrap: 2})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.Proportions.Source, []float64{.25, .75}) || r.TargetRows != 120 {
		t.Errorf("%v of %d rows, want a quarter, of 120", r.Proportions.Source, r.TargetRows)
	}
	if l := r.Levels[0]; !slices.Equal(l.Classes, []string{"x", "y"}) || len(l.Lower) != 2 || len(l.Upper) != 2 {
		t.Errorf("the coarser level is %+v", l)
	}
	panel := &labelshift.Panel{Aligned: &labelshift.Result{}}
	group := &labelshift.Interval{Lower: []float64{.1}, Upper: []float64{.9}}
	e := &labelshift.Result{Panel: panel, Interval: &labelshift.Interval{Region: &labelshift.Region{}, Groups: []*labelshift.Interval{group}}}
	if r := newReport(nil, nil, e); len(r.bounds) != 1 || r.bounds[0].Lower[0] != .1 || r.bounds[0].Upper[0] != .9 {
		t.Errorf("the bounds of a level are %+v", r.bounds)
	}
}

// Match–translate–EM answers by labels too; what is read last, for other estimators, can fail.
func TestMatchTranslateEM(t *testing.T) {
	meta := arrowio.Meta{Levels: []byte(twoLevels)}
	o := Options{Method: "mte", Level: .9, Bootstrap: 2, Labels: labelsOf(t, rows(apart(), meta), "0", "1", "0", "1")}
	whole := &faulty{Batches: rows(apart(), meta)}
	r, err := Estimate(t.Context(), env, whole, o)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(r.Proportions.Estimated[0]-.5) > .1 || r.Labelled.Rows != 4 || len(r.Levels) != 2 {
		t.Errorf("%+v by %+v", r.Proportions, r.Labelled)
	}
	if _, err := Estimate(t.Context(), env, &faulty{Batches: rows(apart(), meta), at: whole.steps}, o); !errors.Is(err, errCut) {
		t.Errorf("the last step fails, and the error is %v", err)
	}
}

// The end of the context is an answer of no estimator, though one of them has failed before.
func TestEstimatorsEnd(t *testing.T) {
	few := columns{"domain": arrowio.NewDomainArray([]arrowio.Domain{0, 0, 0, 0, 1, 1, 1, 1}), "label": arrowio.NewIntArray([]int32{0, 1, 0, 1, 0, 0, 0, 0}, nil),
		"features": arrowio.NewVectorArray(arrowio.Vectors{Data: []float32{0, 7, 1, 9, 0, 7, 1, 9}, Rows: 8, Width: 1})}
	ctx, end := context.WithCancel(t.Context())
	ending := env
	ending.Log = slog.New(slog.NewTextHandler(writer(end), nil)) // it is told that none can be kept from a classifier
	if _, err := Estimate(ctx, ending, rows(few, arrowio.Meta{}), Options{Method: "mte", Bootstrap: 2}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

type writer func()

func (w writer) Write(b []byte) (int, error) { w(); return len(b), nil }

// A share that is no number is in no file.
func TestReportThatIsNoJSON(t *testing.T) {
	r := reported(.5, .5)
	r.ExpectedError = math.NaN()
	r.Diagnostics = nil
	out := &sink{}
	if err := r.Write(stages.Env{}, out); err == nil || out.begun {
		t.Errorf("rows: %v, begun %v", err, out.begun)
	}
	var text strings.Builder
	if err := (Targets{Targets: []Target{{"t", r}}}).WriteJSON(&text); err == nil {
		t.Errorf("JSON of targets: %s", &text)
	}
}

type sink struct {
	arrowio.Sink
	begun bool
}

func (s *sink) Begin(*arrow.Schema) error { s.begun = true; return nil }

func (s *sink) Write(arrow.Record) error { return nil }

// Details have what each estimator says.
func TestDetails(t *testing.T) {
	r := reported(.5, .5)
	r.Estimators = map[string][]float64{"mte": {.5, .5}, "em": {.25, .75}, "bbse": {.125, .875}}
	var text strings.Builder
	if err := r.WriteTable(&text, true); err != nil {
		t.Fatal(err)
	}
	want := "\nOther estimators:\n            c0      c1\n  bbse  0.1250  0.8750\n    em  0.2500  0.7500\n"
	if !strings.Contains(text.String(), want) {
		t.Errorf("the table lacks %q:\n%s", want, &text)
	}
}
