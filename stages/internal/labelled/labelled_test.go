package labelled

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/contexttest"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/algorithms/ppi"
	"mars.dev/mars/stages/internal/models"
	"mars.dev/mars/stages/internal/sheet"
	"mars.dev/mars/stages/internal/stream"
)

var classes = []string{"left", "right"}

// line is two classes, on a line at −2 and 2.
func line() (x blas32.General, labels []int32) {
	x = blas32.General{Rows: 60, Cols: 1, Stride: 1}
	for i := range x.Rows {
		x.Data, labels = append(x.Data, float32(4*(i%2)-2)+float32(i%7-3)/4), append(labels, int32(i%2))
	}
	return x, labels
}

func hedged(t *testing.T) *hedge.Model {
	t.Helper()
	x, labels := line()
	m, err := hedge.Fit(t.Context(), hedge.Problem{Source: x, Labels: labels, Target: x, Classes: classes}, hedge.Options{Classifiers: []string{"logistic"}, KeepAll: true})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// target is a stream of those rows.
func target(x ...float32) *stream.Rows {
	var table arrowio.Table
	table.Add("features", arrowio.NewVectorArray(arrowio.Vectors{Data: x, Rows: len(x), Width: 1}))
	rec := table.Record(arrowio.Meta{})
	return &stream.Rows{Env: stages.Env{Columns: arrowio.DefaultColumns()}, Stream: arrowio.NewBatches("test", rec.Schema(), rec, rec)}
}

// given are rows at x that have those classes, of all names, each drawn with a probability.
func given(x []float32, class []int, probability []float64, names ...string) *Rows {
	r := &Rows{Vectors: blas32.General{Rows: len(x), Cols: 1, Stride: 1, Data: x}}
	r.Answers = &sheet.Answers{Filled: &sheet.Filled{Path: "sheet.csv"}, Classes: names, Source: len(classes), Class: class}
	for i := range x {
		r.Labelled = append(r.Labelled, sheet.Row{Order: i + 1, Draw: ppi.Draw{Row: i, Probability: probability[i]}})
		r.Known = append(r.Known, i)
	}
	return r
}

// What a model says of all rows is added up, and an error in a row or the end of the context comes back.
func TestOfModel(t *testing.T) {
	m := hedged(t)
	rows := given([]float32{-2, 2}, []int{0, 1}, []float64{1, 1}, classes...)
	e, err := rows.OfModel(t.Context(), target(-2, -2, 2), m, "features")
	if err != nil {
		t.Fatal(err)
	}
	if e.Rows != 6 || !slices.Equal(e.Guessed, []int{4, 2}) || len(e.Views) < 2 || !(e.Sure[0] > 3 && e.Sure[0] <= 4) {
		t.Errorf("got %+v", e)
	}
	for _, v := range e.Views {
		if sum := v.Mean[0] + v.Mean[1]; math.Abs(sum-1) > 1e-6 || v.Mean[0] < .5 || v.Labelled[0][0] < .5 || v.Labelled[1][1] < .5 {
			t.Errorf("view %s says %v of the mean row, and %v of the labelled ones", v.Name, v.Mean, v.Labelled)
		}
	}
	if _, err := rows.OfModel(t.Context(), target(-2, float32(math.Inf(1))), m, "features"); err == nil || err.Error() != `test: column "features": row 2: element 1 is +Inf: fill or drop the row` {
		t.Errorf("got %v", err)
	}
	contexttest.Stops(t, 3, func(ctx context.Context) error {
		_, err := rows.OfModel(ctx, target(-2, 2), m, "features")
		return err
	})
	contexttest.Stops(t, 1, func(ctx context.Context) error {
		_, err := rows.Relearn(ctx, stages.Env{}, m)
		return err
	})
}

// Posteriors by one model are its own evidence.
func TestOfPosteriors(t *testing.T) {
	rows := given([]float32{1, 3}, []int{0, 1}, []float64{1, 1}, classes...)
	rows.Known = []int{2, 0}
	e := rows.OfPosteriors("mlp", blas32.General{Rows: 3, Cols: 2, Stride: 2, Data: []float32{.25, .75, 1, 0, .75, .25}})
	if got, want := fmt.Sprintf("%+v %d %v %v", e.Views, e.Rows, e.Guessed, e.Sure), "[{Name:mlp Weight:1 Mean:[0.6666666666666666 0.3333333333333333] Labelled:[[0.75 0.25] [0.25 0.75]]}] 3 [2 1] [1.75 0.75]"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// Where the labels refute all that a model assumes it is said, with the share of labels that are right: of
// rows for which the labelled ones stand, 160 of 200.
func TestRelearn(t *testing.T) {
	m := hedged(t)
	var log bytes.Buffer
	env := stages.Env{Log: slog.New(slog.NewTextHandler(&log, nil))}
	var x []float32
	var class []int
	var probability []float64
	for i := range 50 {
		x = append(x, 2)
		if i < 40 {
			class, probability = append(class, 0), append(probability, 1)
		} else {
			class, probability = append(class, 1), append(probability, 1./16)
		}
	}
	const every = "the labels refute every assumption, so rows that nobody has labelled are labelled by one that is wrong: about 80 % of these labels are right, by those that were given"
	rows := given(x, class, probability, classes...)
	again, err := rows.Relearn(t.Context(), env, m)
	if err != nil {
		t.Fatal(err)
	}
	views, _, err := rows.Views(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(log.String(), "the labels refute that "); n != len(views) || !strings.Contains(log.String(), every) || !strings.Contains(log.String(), "by 50 labels: ") {
		t.Errorf("of %d views the log says\n%s", len(views), log.String())
	}
	if math.Abs(again.Proportions[0]+again.Proportions[1]-1) > 1e-6 {
		t.Errorf("the shares are %v", again.Proportions)
	}
	// A class that the source lacks may be why.
	log.Reset()
	rows = given(x, class, probability, "left", "right", "up")
	if _, err := rows.Relearn(t.Context(), env, m); err != nil || strings.Contains(log.String(), every) || !strings.Contains(log.String(), "the labels refute that ") {
		t.Errorf("%v, and the log says\n%s", err, log.String())
	}
	// Labels that are right refute nothing.
	log.Reset()
	if _, err := given([]float32{-2, 2}, []int{0, 1}, []float64{1, 1}, classes...).Relearn(t.Context(), env, m); err != nil || strings.Contains(log.String(), "refute") {
		t.Errorf("%v, and the log says\n%s", err, log.String())
	}
}

// A row is of the classes that the source lacks as far as the labelled rows near it are, and for the rest
// what it was.
func TestExtend(t *testing.T) {
	rows := given([]float32{0, 10, 20}, []int{0, 2, 3}, []float64{1, 1, 1}, "left", "right", "up", "down")
	errPredict, errDecide := errors.New("no prediction"), errors.New("no decision")
	var failPredict, failDecide error
	l := &models.Labeller{Classes: classes, Levels: `[{"name":"side","of":["any","any"]},{"name":"kind"}]`}
	l.Predict = func(_ context.Context, x blas32.General) (blas32.General, error) {
		return blas32.General{Rows: x.Rows, Cols: 2, Stride: 2, Data: slices.Repeat([]float32{.25, .75}, x.Rows)}, failPredict
	}
	l.Decide = func(blas32.General) error { return failDecide }
	rows.Extend(l)
	x := blas32.General{Rows: 4, Cols: 1, Stride: 1, Data: []float32{0, 10, 20, 15}}
	p, err := l.Predict(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	// The nearest rows are 10 off, where the kernel is e^−2: (10²)/(2·¼·10²).
	near, far := math.Exp(-2), math.Exp(-8)
	for i, weights := range [][]float64{{1, near, far}, {near, 1, near}, {far, near, 1}, {math.Exp(-4.5), math.Exp(-.5), math.Exp(-.5)}} {
		sum := weights[0] + weights[1] + weights[2]
		for k, want := range []float64{.25 * weights[0], .75 * weights[0], weights[1], weights[2]} {
			if got := float64(row(p, i)[k]); math.Abs(got-want/sum) > 1e-6 {
				t.Errorf("row %d is of class %d by %v, want %v", i, k, got, want/sum)
			}
		}
	}
	if want := `[{"name":"side","of":["any","any","up","down"]},{"name":"kind"}]`; l.Levels != want || len(l.Classes) != 4 || l.Decide(p) != nil {
		t.Errorf("levels are %s of %v", l.Levels, l.Classes)
	}
	failDecide = errDecide
	if _, err := l.Predict(t.Context(), x); !errors.Is(err, errDecide) {
		t.Errorf("got %v", err)
	}
	failPredict = errPredict
	if _, err := l.Predict(t.Context(), x); !errors.Is(err, errPredict) {
		t.Errorf("got %v", err)
	}
}

// Of rows without a label eight are named.
func TestGaps(t *testing.T) {
	for n, want := range map[int]string{1: "the row with order 1 has no label", 2: "the rows with order 1, 2 have no label",
		8: "the rows with order 1, 2, 3, 4, 5, 6, 7, 8 have no label", 9: "the rows with order 1, 2, 3, 4, 5, 6, 7, 8, … (9 in all) have no label"} {
		var orders []int
		for i := range n {
			orders = append(orders, i+1)
		}
		if got := gaps(orders); got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}

// What is wrong with a sheet or the stream is said before anything is learnt.
func TestErrorsOfFind(t *testing.T) {
	o := Options{Sheet: &sheet.Filled{Path: "sheet.csv", Column: "label", Rows: []sheet.Row{{Order: 1}}}}
	if _, err := o.Find(t.Context(), target(1), classes, "features"); err == nil || !strings.HasPrefix(err.Error(), "sheet.csv: no row has a label") {
		t.Errorf("got %v", err)
	}
	o.Sheet.Rows[0].Label, o.Sheet.Plan.Target = "left", "bcd"
	if _, err := o.Find(t.Context(), target(1), classes, "features"); err == nil || !strings.HasPrefix(err.Error(), "sheet.csv: has rows of another target than test") {
		t.Errorf("got %v", err)
	}
	if _, err := o.Find(t.Context(), target(float32(math.Inf(1))), classes, "features"); err == nil || !strings.HasPrefix(err.Error(), `test: column "features": row 1: `) {
		t.Errorf("got %v", err)
	}
}
