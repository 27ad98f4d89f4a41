package labelshift

import (
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/mixture"
	"mars.dev/mars/stages/algorithms/mte"
	"mars.dev/mars/stages/algorithms/transport"
)

// Result is what every estimator returns.
type Result struct {
	// Estimator is its name, one of Names; of a panel's members also "adapt"
	// and "aligned".
	Estimator string
	// Proportions is p_T: C values that sum to 1. That of a class without
	// source rows is 0.
	Proportions []float64
	// Responsibilities is n_T×C: the class posteriors of the target rows under
	// Proportions. Data is nil if the estimator has none.
	Responsibilities blas32.General
	// Iterations is how many steps were taken, and Converged whether they
	// ended for lack of change; estimators with a fixed number of steps or
	// none have true.
	Iterations int
	Converged  bool
	// Warnings are doubts about the estimate in words.
	Warnings []string

	// Clustering and Matching are how marsc and marsg clustered the target and
	// matched the components with classes; nil for the others.
	Clustering *mixture.Result
	Matching   *transport.Matching
	// Panel and Interval are whom auto asked, and how far off the proportions
	// may be; nil for the others.
	Panel    *Panel
	Interval *Interval
}

// found turns an estimate of match–translate–EM into a result.
func found(name string, e mte.Estimate, warnings []string) *Result {
	return &Result{Estimator: name, Proportions: e.Proportions, Responsibilities: e.Responsibilities,
		Iterations: e.Iterations, Converged: e.Converged, Warnings: warnings}
}
