package labelshift

import (
	"math/rand/v2"
	"testing"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// Rows at hand have the fixed point to which exact sums lead, with few classes and with many,
// some of which the target lacks.
func TestFixedPoint(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, classes := range []int{3, manyVariables + 8} {
		source, target := make([]float64, classes), make([]float64, classes)
		for k := range source {
			source[k] = 1 + rng.Float64()
			if k%4 != 1 {
				target[k] = 0.2 + rng.Float64()
			}
		}
		dense.Normalize(source)
		dense.Normalize(target)
		x := shifted(rng, 1500, source, target, 2)
		_, want, _ := solve(t, x, source, source)
		got, err := FixedPoint(t.Context(), x, source)
		if err != nil {
			t.Fatal(err)
		}
		if d := dense.L1(got, want); d > 1e-9 {
			t.Errorf("%d classes: off by %g", classes, d)
		}
		if d := dense.L1(got, target); d > 0.2 {
			t.Errorf("%d classes: %g from the truth", classes, d)
		}
	}
}
