package eigen

import (
	"context"
	"mars.dev/mars/internal/contexttest"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
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
