package classmap

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/eigen"
)

// covarianceOf returns the covariance of rows of d columns. The first have the
// given scales as their deviations, the others have rest.
func covarianceOf(rng *rand.Rand, d int, rest float64, scales ...float64) *mat.SymDense {
	x := mat.NewDense(4*d, d, nil)
	for i := range 4 * d {
		for j := range d {
			s := rest
			if j < len(scales) {
				s = scales[j]
			}
			x.Set(i, j, s*rng.NormFloat64())
		}
	}
	var c mat.Dense
	c.Mul(x.T(), x)
	c.Scale(1/float64(4*d), &c)
	return eigen.Symmetrised(&c)
}

// With many dimensions the map still gives the source the target's variances
// along the axes that vary most, and the target's total variance in the others.
func TestBetweenOfManyDimensions(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const d = exactAxes + 40
	source, target := covarianceOf(rng, d, 0.1, 3, 2, 1), covarianceOf(rng, d, 0.2, 1, 4, 2)
	m, err := between(t.Context(), source, target)
	if err != nil {
		t.Fatal(err)
	}
	var half, mapped mat.Dense
	half.Mul(m.T(), source)
	mapped.Mul(&half, m)
	for j := range 3 {
		if got, want := mapped.At(j, j), target.At(j, j); got < 0.98*want || got > 1.02*want {
			t.Errorf("axis %d has the variance %v, want %v", j, got, want)
		}
	}
	rest := func(c mat.Matrix) (sum float64) {
		for j := 3; j < d; j++ {
			sum += c.At(j, j)
		}
		return sum
	}
	if got, want := rest(&mapped), rest(target); got < 0.95*want || got > 1.05*want {
		t.Errorf("the other axes have the variance %v, want %v", got, want)
	}
}
