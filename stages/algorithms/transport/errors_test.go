package transport

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// A covariance with a value that is no number has no distance, on either side.
func TestCovarianceWithoutNumbers(t *testing.T) {
	values := []float64{3, 1, 1, 1, 3, 1, 1, 1, 3}
	good := mat.NewSymDense(3, slices.Clone(values))
	values[0] = math.NaN()
	bad := mat.NewSymDense(3, values)
	for name, c := range map[string][2]*mat.SymDense{"the class's": {bad, good}, "the component's": {good, bad}} {
		if err := addBures(t.Context(), []float64{0}, c[0], []*mat.SymDense{c[1]}); err == nil {
			t.Errorf("%s covariance is no number, and there is no error", name)
		}
	}
	if err := addBures(t.Context(), []float64{0}, good, []*mat.SymDense{good}); err != nil {
		t.Error(err)
	}
}

// The end of the context ends what a matching and its check are made of.
func TestPartsOfMatchingsStop(t *testing.T) {
	x, labels := cloud(newRand(41), 60, 3, 0, []float64{1, 2}, 3)
	g := NewGaussians(3, 3)
	if err := g.Add(t.Context(), x, labels); err != nil {
		t.Fatal(err)
	}
	moments, cost := g.Moments(), mat.NewDense(2, 3, []float64{0, 1, 2, 1, 0, 2})
	ended, end := context.WithCancel(t.Context())
	end()
	for name, f := range map[string]func() error{
		"transport":  func() error { return (&Matching{Plan: mat.NewDense(2, 3, nil)}).transport(ended, cost, []int{0, 1}) },
		"separation": func() error { return (&Check{}).separate(ended, moments, Means) },
		"excess":     func() error { _, err := Excess(ended, cost, []int{0, 1}); return err },
		"exact":      func() error { _, err := Exact(ended, dense.Uniform(2), dense.Uniform(3), cost); return err },
	} {
		if err := f(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want %v", name, err, context.Canceled)
		}
	}
}
