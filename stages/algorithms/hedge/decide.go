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
	target := make([]float64, len(m.Proportions))
	for k, p := range m.Proportions {
		target[k] = max(p, minShare)
	}
	switch {
	case m.Decision == nil:
		return labelshift.Accuracy.Adjust(posteriors, target, m.prior)
	case *m.Decision == labelshift.Balanced:
		return labelshift.Balanced.Adjust(posteriors, target, nil)
	}
	return nil
}
