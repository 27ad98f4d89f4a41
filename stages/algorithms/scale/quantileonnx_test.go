package scale

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// The polynomials of normalONNX are those of the normal quantile.
func TestNormalPolynomials(t *testing.T) {
	polynomial := func(r float64, c []float64) (y float64) {
		for k := len(c) - 1; k >= 0; k-- {
			y = y*r + c[k]
		}
		return y
	}
	for _, p := range []float64{leastShare, 1e-5, 0.003, 0.0749, 0.0751, 0.3, 0.5, 0.77, 0.9249, 0.9251, 0.999, 1 - leastShare} {
		q := p - 0.5
		r := central*central - q*q
		got := q * polynomial(r, centralOver) / polynomial(r, centralUnder)
		if math.Abs(q) > central {
			r = math.Sqrt(-math.Log(min(p, 1-p))) - tail
			got = math.Copysign(polynomial(r, tailOver)/polynomial(r, tailUnder), q)
		}
		if want := distuv.UnitNormal.Quantile(p); math.Abs(got-want) > 1e-12*max(1, math.Abs(want)) {
			t.Errorf("the quantile of %v is %v, want %v", p, got, want)
		}
	}
}
