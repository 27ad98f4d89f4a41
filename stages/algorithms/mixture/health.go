package mixture

import (
	"gonum.org/v1/gonum/blas/blas32"
)

// fewRows is how many rows say little of where a component lies.
const fewRows = 10

// Tiny lists the components with fewer than 10 rows, empty ones among them:
// often a few outliers, while two classes share another component.
func (r *Result) Tiny() []int {
	var tiny []int
	for k, n := range r.Counts {
		if n < fewRows {
			tiny = append(tiny, k)
		}
	}
	return tiny
}

// HardSoft returns the L1 distance, 0 to 2, of the proportions by hard counts
// to the mixture's weights; 0 for methods without weights.
func (r *Result) HardSoft() float64 {
	sum := 0.0
	for k, w := range r.Weights {
		sum += max(w-r.Proportions[k], r.Proportions[k]-w)
	}
	return sum
}

// assignAmbiguous is Assign for Gaussian components, and returns the mean of
// one less the greatest responsibility.
func (a *Assigner) assignAmbiguous(labels []int32, x blas32.General) float64 {
	doubts := make([]float64, x.Rows)
	a.eachScore(x, func(i int, scores []float64) {
		best := argmax(scores)
		labels[i] = int32(best)
		normalize(scores)
		doubts[i] = 1 - scores[best]
	})
	sum := 0.0
	for _, d := range doubts {
		sum += d
	}
	return sum / float64(x.Rows)
}
