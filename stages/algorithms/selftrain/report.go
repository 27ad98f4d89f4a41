package selftrain

import (
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/augment"
	"mars.dev/mars/stages/algorithms/internal/dense"
)

// A Report is what self-training says of itself without knowing a label of the target.
type Report struct {
	// FirstKept and Kept are the shares of the target rows that got a label: by the network
	// that had seen the source alone, and by the last one.
	FirstKept, Kept float64
	// Agreement is the share of the target rows that keep their class under the random
	// changes of training.
	Agreement float64
	// Doubt is the mean of 1 − the greatest posterior, corrected for p_T: the share of wrong
	// labels if the posteriors mean what they say.
	Doubt float64
	// Before and After are p_T as the first and the last labels assume it.
	Before, After []float64
}

// maxAgreementRows bounds the rows that Agreement is measured on: it is exact to about .01.
const maxAgreementRows = 4000

func newReport(m *adapt.Model, target blas32.General, changes augment.Policy, last *adapt.PseudoLabels, corrected blas32.General) *Report {
	r := &Report{Agreement: agreement(m, target, changes), After: last.Proportions}
	if m.FirstLabels != nil {
		r.FirstKept, r.Before = m.FirstLabels.Kept, m.FirstLabels.Proportions
	}
	for i, y := range last.Labels {
		if y >= 0 {
			r.Kept += 1 / float64(len(last.Labels))
		}
		row := dense.Row(corrected, i)
		r.Doubt += (1 - float64(row[dense.Argmax(row)])) / float64(len(last.Labels))
	}
	return r
}

// agreement predicts rows at even distances, as they are and changed.
func agreement(m *adapt.Model, target blas32.General, changes augment.Policy) float64 {
	n := min(target.Rows, maxAgreementRows)
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i * target.Rows / n
	}
	sample := dense.Gather(target, rows)
	same, changed := 0, adapt.Argmax(m.PredictAugmented(sample, changes, m.Seed))
	for i, y := range adapt.Argmax(m.Predict(sample)) {
		if changed[i] == y {
			same++
		}
	}
	return float64(same) / float64(n)
}
