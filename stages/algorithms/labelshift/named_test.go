package labelshift

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// Every name leads to the estimator that calls itself so.
func TestNames(t *testing.T) {
	posteriors := blas32.General{Rows: 4, Cols: 2, Stride: 2, Data: []float32{.9, .1, .8, .2, .2, .8, .1, .9}}
	x := blas32.General{Rows: 4, Cols: 1, Stride: 1, Data: []float32{0, 0.1, 1, 1.1}}
	bcts := BCTS
	e := Evidence{
		Problem:          Problem{Source: x, Labels: []int32{0, 0, 1, 1}, Target: InMemory(x), Classes: 2},
		SourcePosteriors: posteriors, TargetPosteriors: posteriors, Train: linear, Calibration: &bcts,
	}
	for _, name := range Names {
		got, err := e.Estimate(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if want := map[bool]string{true: "bbse", false: name}[name == "bbse-soft"]; got.Estimator != want || distance(got.Proportions, []float64{0.5, 0.5}) > 0.05 {
			t.Errorf("%s: %s says %v", name, got.Estimator, got.Proportions)
		}
		if e := (Evidence{Problem: e.Problem, Train: linear}); !UsesPosteriors(name) {
			if _, err := e.Estimate(name); err != nil {
				t.Errorf("%s without posteriors: %v", name, err)
			}
		}
	}
	if _, err := e.Estimate("mars"); err == nil || slices.Contains(Names, "mars") {
		t.Errorf("an unknown name: %v", err)
	}
}
