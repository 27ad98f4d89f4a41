package classmap

import (
	"context"
	"errors"
	"math"
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

// Up to a number of dimensions the map is exact in all of them.
func TestBetweenIsExact(t *testing.T) {
	source, target := mat.NewSymDense(exactAxes, nil), mat.NewSymDense(exactAxes, nil)
	for j := range exactAxes {
		source.SetSym(j, j, 1)
		target.SetSym(j, j, float64(1+j*j))
	}
	m, err := between(t.Context(), source, target)
	if err != nil {
		t.Fatal(err)
	}
	for j := range exactAxes {
		if got, want := m.At(j, j), math.Sqrt(float64(1+j*j)); math.Abs(got-want) > 1e-9*want {
			t.Errorf("axis %d is mapped by %v, want %v", j, got, want)
		}
	}
}

// The axes of many dimensions are looked for until the context ends.
func TestBetweenStopsWithItsContext(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	many := mat.NewSymDense(exactAxes+1, nil)
	if m, err := between(ended, many, many); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", m, err)
	}
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
