package pca

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/internal/contexttest"
	"mars.dev/mars/stages/algorithms/internal/dense"
)

// rows have columns whose deviations fall by half from one to the next.
func rows(n, d int) blas32.General {
	rng, x := rand.New(rand.NewPCG(1, 0)), dense.New(n, d)
	for i := range x.Data {
		x.Data[i] = float32(5 + 16*math.Pow(.5, float64(i%d))*rng.NormFloat64())
	}
	return x
}

// Scores and shares are those of a singular value decomposition.
func TestProject(t *testing.T) {
	const n, d, q = 400, 60, 3
	x := rows(n, d)
	p, err := Project(context.Background(), x, q, 7)
	if err != nil {
		t.Fatal(err)
	}
	z := mat.NewDense(n, d, nil)
	for i := range n {
		for j, v := range dense.Row(x, i) {
			z.Set(i, j, float64(v))
		}
	}
	Centre(z.RawMatrix())
	var svd mat.SVD
	if !svd.Factorize(z, mat.SVDThin) {
		t.Fatal("no decomposition")
	}
	var u mat.Dense
	svd.UTo(&u)
	values, all := svd.Values(nil), 0.0
	for _, v := range values {
		all += v * v
	}
	for k := range q {
		if want := values[k] * values[k] / all; math.Abs(p.Explained[k]-want) > 1e-9 {
			t.Errorf("component %d has the share %v, not %v", k, p.Explained[k], want)
		}
		sign := math.Copysign(1, u.At(0, k)*p.Scores.Data[k])
		for i := range n {
			if got, want := p.Scores.Data[i*q+k], sign*values[k]*u.At(i, k); math.Abs(got-want) > 1e-6 {
				t.Fatalf("row %d, component %d: %v, not %v", i, k, got, want)
			}
		}
	}
}

func TestProjectOddRows(t *testing.T) {
	p, err := Project(context.Background(), rows(2, 9), 5, 0)
	if err != nil || p.Scores.Cols != 2 {
		t.Errorf("two rows have %+v, %v", p, err)
	}
	p, err = Project(context.Background(), dense.New(9, 4), 2, 0)
	if err != nil || p.Explained[0] != 0 || !dense.Finite(p.Scores.Data) {
		t.Errorf("rows alike have %+v, %v", p, err)
	}
	if _, err := Project(context.Background(), dense.New(0, 4), 2, 0); err == nil {
		t.Error("no rows are no error")
	}
	x := rows(9, 4)
	x.Data[6] = float32(math.Inf(1))
	if _, err := Project(context.Background(), x, 2, 0); err == nil || !strings.Contains(err.Error(), "row 1, column 2") {
		t.Error(err)
	}
}

func TestContextEnds(t *testing.T) {
	contexttest.Stops(t, Rounds, func(ctx context.Context) error {
		_, err := Project(ctx, rows(50, 9), 2, 0)
		return err
	})
}
