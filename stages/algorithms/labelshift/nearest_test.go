package labelshift

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/internal/contexttest"
)

// randomMixture is n means of d values, and a mixture of some of them with noise.
func randomMixture(d, n int, seed uint64) (m *mat.Dense, b []float64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	m, b = mat.NewDense(d, n, nil), make([]float64, d)
	for i := range d {
		for k := range n {
			m.Set(i, k, 0.3+rng.NormFloat64()/math.Sqrt(float64(d)))
		}
	}
	for k := range n / 3 {
		floats.AddScaled(b, 3/float64(n), mat.Col(nil, k, m))
	}
	for i := range b {
		b[i] += 0.01 * rng.NormFloat64()
	}
	return m, b
}

func distance(m *mat.Dense, p, b []float64) float64 {
	var at mat.VecDense
	at.MulVec(m, mat.NewVecDense(len(p), p))
	return floats.Distance(at.RawVector().Data, b, 2)
}

// Of many means the mixture is nearly as near as that of the exact solution, also where there are more
// means than values, from a guess and without one.
func TestNearestMixtureOfMany(t *testing.T) {
	for _, d := range []int{40, 300} {
		m, b := randomMixture(d, 2*manyMeans, 7)
		want, err := SimplexLeastSquares(m, b, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, near := range [][]float64{nil, want} {
			got, err := NearestMixture(t.Context(), mat.DenseCopyOf(m.T()), b, near)
			if err != nil {
				t.Fatal(err)
			}
			if floats.Min(got) < 0 || math.Abs(floats.Sum(got)-1) > 1e-12 {
				t.Errorf("%d values: shares %v", d, got)
			}
			if near, least := distance(m, got, b), distance(m, want, b); near > 1.01*least+1e-3 {
				t.Errorf("%d values: the mixture is %g from the target, and could be %g", d, near, least)
			}
		}
	}
}

func TestNearestMixtureContext(t *testing.T) {
	m, b := randomMixture(300, 2*manyMeans, 7)
	contexttest.Stops(t, 2, func(ctx context.Context) error {
		_, err := NearestMixture(ctx, mat.DenseCopyOf(m.T()), b, nil)
		return err
	})
}
