package hedge

import (
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/labelshift"
)

// minShare is what a class' share of p_T counts as if it is less.
const minShare = 1e-4

// Decide changes posteriors (n×C), as Predict returns them, in place for the model's
// Decision. They carry p_T and are ready for accuracy. Balanced divides them by p_T.
// Without a Decision they carry p_S.
func (m *Model) Decide(posteriors blas32.General) error {
	if d, from, to := m.adjustment(); to != nil {
		return d.Adjust(posteriors, from, to)
	}
	return nil
}

// adjustment is how posteriors change for the Decision, and between which proportions;
// those are nil if they stay.
func (m *Model) adjustment() (d labelshift.Decision, from, to []float64) {
	target := make([]float64, len(m.Proportions))
	for k, p := range m.Proportions {
		target[k] = max(p, minShare)
	}
	switch {
	case m.Decision == nil:
		return labelshift.Accuracy, target, m.prior
	case *m.Decision == labelshift.Balanced:
		return labelshift.Balanced, target, target
	}
	return labelshift.Accuracy, nil, nil
}
