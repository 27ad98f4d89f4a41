package labelshift

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// shiftedPosteriors are those of n rows of Gaussian classes on a line, apart deviations from one
// another, that have the target's shares and carry the source's.
func shiftedPosteriors(rng *rand.Rand, n int, source, target []float64, apart float64) blas32.General {
	x := dense.New(n, len(source))
	for i := range n {
		u, y := rng.Float64(), 0
		for y < len(target)-1 && u >= target[y] {
			u -= target[y]
			y++
		}
		at := float64(y)*apart + rng.NormFloat64()
		total := 0.0
		p := make([]float64, len(source))
		for k, s := range source {
			d := at - float64(k)*apart
			p[k] = s * math.Exp(-d*d/2)
			total += p[k]
		}
		for k := range p {
			dense.Row(x, i)[k] = float32(p[k] / total)
		}
	}
	return x
}

// The intervals of many windows of a known shift hold the true shares as often as they
// promise, with few rows too, and where shares are near 0.
func TestRowIntervalCoverage(t *testing.T) {
	const windows = 400
	source := []float64{0.5, 0.3, 0.2}
	for _, c := range []struct {
		rows   int
		target []float64
		apart  float64
	}{
		{10, []float64{0.2, 0.2, 0.6}, 3}, {30, []float64{0.2, 0.2, 0.6}, 3}, {100, []float64{0.2, 0.2, 0.6}, 3}, {1000, []float64{0.2, 0.2, 0.6}, 3},
		{10, []float64{0.2, 0.2, 0.6}, 1.5}, {30, []float64{0.2, 0.2, 0.6}, 1.5}, {300, []float64{0.2, 0.2, 0.6}, 1.5},
		{30, []float64{0.9, 0.08, 0.02}, 3}, {300, []float64{0.9, 0.08, 0.02}, 3}, {300, []float64{0.9, 0.1, 0}, 3}, {300, []float64{0.9, 0.08, 0.02}, 1.5},
		{10, []float64{0.2, 0.2, 0.6}, 10}, {1, []float64{0.2, 0.2, 0.6}, 3},
	} {
		t.Run(fmt.Sprint(c.rows, c.target, c.apart), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(c.rows), 5))
			held, width := make([]int, 3), 0.0
			for range windows {
				x := shiftedPosteriors(rng, c.rows, source, c.target, c.apart)
				e, err := EM(x, source, EMOptions{Accelerate: true, Tolerance: 1e-7})
				if err != nil {
					t.Fatal(err)
				}
				v, err := NewRowInterval(x, source, e.Proportions, RowIntervalOptions{})
				if err != nil {
					t.Fatal(err)
				}
				for k, p := range c.target {
					if v.Lower[k] <= p && p <= v.Upper[k] {
						held[k]++
					}
					if !(v.Lower[k] >= 0 && v.Lower[k] <= e.Proportions[k] && e.Proportions[k] <= v.Upper[k] && v.Upper[k] <= 1) {
						t.Fatalf("share %g in %g to %g", e.Proportions[k], v.Lower[k], v.Upper[k])
					}
					width += (v.Upper[k] - v.Lower[k]) / 3 / windows
				}
			}
			t.Logf("coverage %.3f %.3f %.3f, mean width %.3f", float64(held[0])/windows, float64(held[1])/windows, float64(held[2])/windows, width)
			for k, n := range held {
				if float64(n)/windows < 0.84 {
					t.Errorf("class %d: %d of %d intervals of 90 %% hold the share %g", k, n, windows, c.target[k])
				}
			}
		})
	}
}

// Extrapolated EM finds what EM finds.
func TestAcceleratedEM(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 20 {
		source := []float64{0.4, 0.3, 0.2, 0.1}
		target := []float64{rng.Float64(), rng.Float64(), rng.Float64(), rng.Float64()}
		dense.Normalize(target)
		x := shiftedPosteriors(rng, 500, source, target, 0.5+2*rng.Float64())
		slow, err := EM(x, source, EMOptions{Tolerance: 1e-10, Iterations: 1_000_000})
		if err != nil {
			t.Fatal(err)
		}
		fast, err := EM(x, source, EMOptions{Tolerance: 1e-10, Accelerate: true})
		if err != nil {
			t.Fatal(err)
		}
		if d := dense.L1(slow.Proportions, fast.Proportions); !(d < 1e-5) {
			t.Errorf("%v after %d steps, and %v after %d: %g apart", slow.Proportions, slow.Iterations, fast.Proportions, fast.Iterations, d)
		}
		if !fast.Converged {
			t.Error("the extrapolated steps have not converged")
		}
	}
}
