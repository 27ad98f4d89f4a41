package labelshift

import (
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// CC is classify and count: p_T is the share of target rows whose posterior
// (n_T×C) is greatest for each class. It is right only for a classifier that
// makes no mistakes. It fails if a row is not a distribution.
func CC(target blas32.General) (*Result, error) {
	if err := checkPosteriors("target", target); err != nil {
		return nil, err
	}
	p := make([]float64, target.Cols)
	for i := range target.Rows {
		p[dense.Argmax(dense.Row(target, i))]++
	}
	dense.Normalize(p)
	return &Result{Estimator: "cc", Proportions: p, Responsibilities: target, Converged: true}, nil
}
