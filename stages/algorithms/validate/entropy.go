package validate

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// Entropy is the mean of p·log p over all posteriors (n×C): 0 if every row is certain of its
// class, and −log(C)/C if none knows anything.
func Entropy(posteriors blas32.General) float64 {
	sum := 0.0
	for i := range posteriors.Rows {
		for _, p := range dense.Row(posteriors, i) {
			if p > 0 {
				sum += float64(p) * math.Log(float64(p))
			}
		}
	}
	return sum / float64(posteriors.Rows*posteriors.Cols)
}
