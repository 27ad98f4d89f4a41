package transport

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// randomCost returns n×m uniform costs.
func randomCost(rng *rand.Rand, n, m int) *mat.Dense {
	cost := mat.NewDense(n, m, nil)
	for i := range n {
		for j := range m {
			cost.Set(i, j, rng.Float64())
		}
	}
	return cost
}

// randomMasses returns n masses that sum to about 1.
func randomMasses(rng *rand.Rand, n int) []float64 {
	masses := make([]float64, n)
	for i := range masses {
		masses[i] = rng.ExpFloat64()
	}
	total := floats.Sum(masses)
	for i := range masses {
		masses[i] /= total
	}
	return masses
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func BenchmarkAssign(b *testing.B) {
	for _, n := range []int{100, 1000} {
		cost := randomCost(newRand(1), n, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if _, _, err := Assign(b.Context(), cost); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMargin(b *testing.B) {
	cost := randomCost(newRand(1), 1000, 1000)
	for b.Loop() {
		if _, err := Margin(b.Context(), cost); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkExact(b *testing.B) {
	rng := newRand(1)
	for _, n := range []int{100, 500, 1000} {
		for _, masses := range []string{"random", "uniform"} {
			cost, x, y := randomCost(rng, n, n), randomMasses(rng, n), randomMasses(rng, n)
			if masses == "uniform" {
				x, y = dense.Uniform(n), dense.Uniform(n)
			}
			b.Run(fmt.Sprintf("%s/%d", masses, n), func(b *testing.B) {
				for b.Loop() {
					plan, err := Exact(b.Context(), x, y, cost)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(plan.Pivots), "pivots")
				}
			})
		}
	}
}
