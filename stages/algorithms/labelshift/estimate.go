package labelshift

import "gonum.org/v1/gonum/blas/blas32"

// Estimate is what every estimator returns.
type Estimate struct {
	// Estimator is its name: "mte", "adapt", "refit", "aligned", "cc",
	// "bbse", "rlls" or "em".
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
	// Starts says where each starting displacement of MTE led.
	Starts []Start
	// Warnings are doubts about the estimate in words.
	Warnings []string

	match *match // what MTE learned, for the panel and its intervals
}

// Start is one starting displacement of MTE.
type Start struct {
	// Name is "none", "means", "ward", "ward2" or "gmm".
	Name string
	// Proportions is the p_T that EM reached from it.
	Proportions []float64
}

// distance returns the L1 distance of two vectors of proportions, 0 to 2.
func distance(p, q []float64) float64 {
	sum := 0.0
	for k := range p {
		sum += max(p[k]-q[k], q[k]-p[k])
	}
	return sum
}

// normalize scales p to sum to 1.
func normalize(p []float64) {
	sum := 0.0
	for _, v := range p {
		sum += v
	}
	for k := range p {
		p[k] /= sum
	}
}
