package labelshift

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/mte"
)

// Every name leads to an estimator that calls itself so and needs no more than
// it says.
func TestNames(t *testing.T) {
	posteriors := blas32.General{Rows: 4, Cols: 2, Stride: 2, Data: []float32{.9, .1, .8, .2, .2, .8, .1, .9}}
	x := blas32.General{Rows: 4, Cols: 1, Stride: 1, Data: []float32{0, 0.1, 1, 1.1}}
	bcts, half := BCTS, []float64{0.5, 0.5}
	rows := mte.Problem{Source: x, Labels: []int32{0, 0, 1, 1}, Target: mte.InMemory(x), Classes: 2}
	for needs, in := range map[Needs]Inputs{
		Known:      {Problem: mte.Problem{Classes: 2}, Known: half},
		Rows:       {Problem: rows, Train: linear},
		Posteriors: {Problem: mte.Problem{Labels: rows.Labels, Classes: 2}, SourcePosteriors: posteriors, TargetPosteriors: posteriors, Calibration: &bcts},
	} {
		for _, name := range Names(needs) {
			got, err := Estimate(t.Context(), name, in)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if got.Estimator != name || dense.L1(got.Proportions, half) > 0.05 {
				t.Errorf("%s: %s says %v", name, got.Estimator, got.Proportions)
			}
			if of, err := NeedsOf(name); of != needs || err != nil {
				t.Errorf("%s needs %v, %v", name, of, err)
			}
		}
	}
	if _, err := Estimate(t.Context(), "guess", Inputs{}); err == nil || !strings.Contains(err.Error(), `there is no estimator "guess": choose one of mars, `) {
		t.Errorf("an unknown name: %v", err)
	}
}

// Proportions that are no proportions are refused wherever they are from.
func TestKnownIsChecked(t *testing.T) {
	for _, p := range [][]float64{nil, {0.5}, {0.7, 0.7}, {math.NaN(), 1}, {-0.5, 1.5}} {
		if _, err := Estimate(t.Context(), "oracle", Inputs{Problem: mte.Problem{Classes: 2}, Known: p}); err == nil {
			t.Errorf("%v is taken for proportions", p)
		}
	}
}

// IW-WD: the least-squares estimate from the soft confusion matrix, averaged half
// and half with the one before.
func TestImportanceWeighted(t *testing.T) {
	a := [][]float32{{.8, .1, .1}, {.1, .7, .2}, {.2, .2, .6}} // mean posterior of each class
	q := []float32{.5, .3, .2}
	mean := make([]float32, 3)
	for c := range a {
		for k := range mean {
			mean[k] += q[c] * a[c][k]
		}
	}
	in := Inputs{
		Problem:          mte.Problem{Labels: []int32{0, 1, 1, 2}, Classes: 3},
		SourcePosteriors: blas32.General{Rows: 4, Cols: 3, Stride: 3, Data: slices.Concat(a[0], a[1], a[1], a[2])},
		TargetPosteriors: blas32.General{Rows: 1, Cols: 3, Stride: 3, Data: mean},
	}
	for want, before := range map[[3]float64][]float64{{.35, .25, .4}: {.2, .2, .6}, {.375, .4, .225}: nil} {
		in.Before = before
		got, err := Estimate(t.Context(), "iw-wd", in)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, "proportions", got.Proportions, want[:], 1e-4)
	}
}
