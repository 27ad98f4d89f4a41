package eigen

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/internal/contexttest"
)

// Subspace iteration finds what a full decomposition does.
func TestSubspaceIteration(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const d, q = 200, 20
	x, scatter := mat.NewDense(400, d, nil), mat.NewDense(d, d, nil)
	for i := range 400 {
		for j := range d {
			x.Set(i, j, rng.NormFloat64()/float64(1+j))
		}
	}
	scatter.Mul(x.T(), x)
	exact, err := Leading(t.Context(), scatter, q)
	if err != nil {
		t.Fatal(err)
	}
	axes, err := subspaceIteration(t.Context(), scatter, q)
	if err != nil {
		t.Fatal(err)
	}
	contexttest.Stops(t, iterations, func(ctx context.Context) error {
		_, err := subspaceIteration(ctx, scatter, q)
		return err
	})
	for j := range q {
		if diff := floats.Distance(mat.Col(nil, j, axes), mat.Col(nil, j, exact), 2); diff > 1e-5 {
			t.Errorf("axis %d is off by %v", j, diff)
		}
	}
}

// A matrix with a value that is no number has no axes, of few columns and of many; nor has one after the end of the context.
func TestNoAxes(t *testing.T) {
	for _, d := range []int{3, maxExact + 1} {
		scatter := mat.NewDense(d, d, nil)
		for i := range d {
			for j := range d {
				scatter.Set(i, j, float64(1+min(i, j)))
			}
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if _, err := Leading(ended, scatter, 2); !errors.Is(err, context.Canceled) {
			t.Errorf("%d columns: error %v, want %v", d, err, context.Canceled)
		}
		scatter.Set(0, 0, math.NaN())
		if _, err := Leading(t.Context(), scatter, 2); err == nil || !strings.HasPrefix(err.Error(), "eigen: the eigenvalues of a covariance do not converge") {
			t.Errorf("%d columns with NaN: error %v", d, err)
		}
	}
}

// Up to maxExact columns all axes may be asked for: none is left for subspace iteration to work with.
func TestAllAxes(t *testing.T) {
	scatter := mat.NewDense(maxExact, maxExact, nil)
	for i := range maxExact {
		scatter.Set(i, i, float64(1+i))
	}
	axes, err := Leading(t.Context(), scatter, maxExact)
	if err != nil {
		t.Fatal(err)
	}
	for j := range maxExact {
		if v := axes.At(maxExact-1-j, j); v != 1 {
			t.Errorf("axis %d has %v of column %d, want 1", j, v, maxExact-1-j)
		}
	}
}
