package labelshift

import (
	"math"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// squarem goes on from p and first, which step made of p, by a squared extrapolation
// (Varadhan & Roland 2008, Simple and globally convergent methods for accelerating the
// convergence of any EM algorithm, scheme S3). It returns a plain step where the
// extrapolation leaves the simplex or a step from there is longer than the one before, so
// that it is no worse than EM. The fixed points are those of step.
func squarem(p, first []float64, step func([]float64) ([]float64, error)) ([]float64, error) {
	second, err := step(first)
	if err != nil {
		return nil, err
	}
	var rr, vv float64 // squares of the first step, and of its change
	for k := range p {
		r := first[k] - p[k]
		v := second[k] - first[k] - r
		rr, vv = rr+r*r, vv+v*v
	}
	a := -math.Sqrt(rr / vv)
	if !(a < -1) { // −1 is two plain steps
		return second, nil
	}
	far := make([]float64, len(p))
	for k := range p {
		r := first[k] - p[k]
		v := second[k] - first[k] - r
		if far[k] = p[k] - 2*a*r + a*a*v; far[k] < 0 || far[k] == 0 && p[k] > 0 {
			return second, nil // a share of 0 would stay 0 for ever
		}
	}
	after, err := step(far)
	if err != nil {
		return nil, err
	}
	if dense.L1(far, after) > dense.L1(first, second) {
		return second, nil
	}
	return after, nil
}
