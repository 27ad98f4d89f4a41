package labelshift

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// Decision is what posteriors that carry the source's proportions p_S are made
// ready for.
type Decision int

const (
	// Accuracy is for the most right rows: posteriors times p_T/p_S.
	Accuracy Decision = iota
	// Balanced is for the best mean recall of the classes: posteriors divided
	// by p_S.
	Balanced
)

var decisionNames = [...]string{"accuracy", "balanced"}

// String returns "accuracy" or "balanced".
func (d Decision) String() string {
	if d < 0 || int(d) >= len(decisionNames) {
		return fmt.Sprintf("Decision(%d)", int(d))
	}
	return decisionNames[d]
}

// ParseDecision returns the decision that String names.
func ParseDecision(name string) (Decision, error) {
	for d, s := range decisionNames {
		if s == name {
			return Decision(d), nil
		}
	}
	return 0, fmt.Errorf("labelshift: decision: %q is not known: choose accuracy or balanced", name)
}

// ParseDecisionOrNone is ParseDecision that returns nil for "none".
func ParseDecisionOrNone(name string) (*Decision, error) {
	if name == "none" {
		return nil, nil
	}
	d, err := ParseDecision(name)
	if err != nil {
		return nil, err
	}
	return &d, nil
}

// minShare is what the target's share of a class counts as if it is less: an
// estimate of nothing is no reason never to predict a class.
const minShare = 1e-4

// Adjust multiplies posteriors (n×C) by the decision's factors and normalises
// the rows, in place. source and target are p_S and p_T; Balanced does not read
// the latter. A class without a share of the source has the posterior 0. It
// fails, before it changes anything, if a share is negative or not finite or a
// row would have no posterior above 0, and panics if the lengths differ from C.
func (d Decision) Adjust(posteriors blas32.General, source, target []float64) error {
	factors, err := d.factors(posteriors.Cols, source, target)
	if err != nil {
		return err
	}
	sums := make([]float64, posteriors.Rows)
	for i := range sums {
		for k, v := range dense.Row(posteriors, i) {
			sums[i] += float64(v) * factors[k]
		}
		if !(sums[i] > 0) || math.IsInf(sums[i], 1) {
			return fmt.Errorf("labelshift: row %d has no posterior above 0 for any class of the source: raise its posteriors", i)
		}
	}
	for i, sum := range sums {
		r := dense.Row(posteriors, i)
		for k, v := range r {
			r[k] = float32(float64(v) * factors[k] / sum)
		}
	}
	return nil
}

func (d Decision) factors(classes int, source, target []float64) ([]float64, error) {
	if len(source) != classes || d == Accuracy && len(target) != classes {
		panic("labelshift: Decision.Adjust: one share a class is needed")
	}
	factors := make([]float64, classes)
	for k, p := range source {
		share := 1.0
		if d == Accuracy {
			share = target[k]
		}
		if !(p >= 0 && share >= 0) || math.IsInf(p+share, 0) {
			return nil, fmt.Errorf("labelshift: class %d has the share %v of the source and %v of the target: give numbers from 0 to 1", k, p, share)
		}
		if p > 0 {
			factors[k] = max(share, minShare) / p
		}
	}
	return factors, nil
}
