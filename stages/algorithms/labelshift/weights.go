package labelshift

import (
	"fmt"
	"math"
)

// Weights returns the C importance weights w†(y) = p_T(y)/p_S(y) of the paper's
// equation (3), from the proportions p_T (target) and p_S (source) of the C
// classes, each of which sums to 1.
//
// A class that is absent from the target has weight 0. A class that is absent
// from the source has weight 0 too, as no row could carry it, and is an error
// if the target has more than rounding of it: its mass would be lost. Otherwise
// the mean weight of a source row, Σ p_S(y)·w†(y), is 1.
func Weights(target, source []float64) ([]float64, error) {
	if err := checkProportions("target", target, len(source)); err != nil {
		return nil, err
	}
	if err := checkProportions("source", source, len(source)); err != nil {
		return nil, err
	}
	w := make([]float64, len(source))
	for k, p := range source {
		switch {
		case p > 0:
			w[k] = target[k] / p
		case target[k] > absenceTolerance:
			return nil, fmt.Errorf("labelshift: class %d is a share of %.4g of the target and has no source row: give labelled rows of it", k, target[k])
		}
		if math.IsInf(w[k], 1) {
			return nil, fmt.Errorf("labelshift: class %d is a share of %.4g of the source and %.4g of the target: its weight is not finite: give more labelled rows of it", k, p, target[k])
		}
	}
	return w, nil
}

// sumTolerance is how far from 1 proportions may sum: rounding, not mistakes.
const sumTolerance = 1e-6

// absenceTolerance is the share of the target up to which a class is absent
// from it: what rounding leaves in a transport plan or a mean of posteriors.
const absenceTolerance = 1e-9

func checkProportions(whose string, p []float64, classes int) error {
	if len(p) != classes {
		return fmt.Errorf("labelshift: %d %s proportions for %d classes: give one a class", len(p), whose, classes)
	}
	sum := 0.0
	for k, v := range p {
		if !(v >= 0) || math.IsInf(v, 0) {
			return fmt.Errorf("labelshift: the %s proportion of class %d is %v: give numbers from 0 to 1", whose, k, v)
		}
		sum += v
	}
	if math.Abs(sum-1) > sumTolerance {
		return fmt.Errorf("labelshift: the %s proportions sum to %v: make them sum to 1", whose, sum)
	}
	return nil
}
