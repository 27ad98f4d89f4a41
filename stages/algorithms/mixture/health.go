package mixture

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// fewRows is the number of rows below which a component counts as tiny.
const fewRows = 10

// Tiny lists the components with fewer than 10 rows, including empty ones. A
// tiny component often holds a few outliers while two classes share another
// component.
func (r *Result) Tiny() []int {
	var tiny []int
	for k, n := range r.Counts {
		if n < fewRows {
			tiny = append(tiny, k)
		}
	}
	return tiny
}

// HardSoft returns the L1 distance (0 to 2) between Proportions, which are hard
// counts, and the mixture's Weights. It is 0 for methods without weights.
func (r *Result) HardSoft() float64 {
	sum := 0.0
	for k, w := range r.Weights {
		sum += max(w-r.Proportions[k], r.Proportions[k]-w)
	}
	return sum
}

// assignAmbiguous is Assign for Gaussian components. It also returns the mean
// of one minus the greatest responsibility.
func (a *Assigner) assignAmbiguous(ctx context.Context, labels []int32, x blas32.General) (float64, error) {
	ambiguity := make([]float64, x.Rows)
	err := a.eachScore(ctx, x, func(i int, scores []float64) {
		best := dense.Argmax(scores)
		labels[i] = int32(best)
		normalize(scores)
		ambiguity[i] = 1 - scores[best]
	})
	sum := 0.0
	for _, v := range ambiguity {
		sum += v
	}
	return sum / float64(x.Rows), err
}
