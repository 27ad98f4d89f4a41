package selftrain

import (
	"context"
	"errors"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/labelshift"
)

// Constants of the pseudo-labels.
const (
	// threshold is the posterior from which a row is labelled.
	threshold = 0.9
	// maxWeight bounds the weight of a class of few labelled rows.
	maxWeight = 5
	// minShare is added to the share of each class, so that no class is lost for good.
	minShare = 1e-3
)

// Label labels the target rows by their n_T×C posteriors, which assume the class
// proportions prior: the posteriors are corrected for the proportions that EM estimates,
// and the rows whose greatest posterior is above .9 get its class. Classes weigh alike in
// the loss, but none more than five times the mean.
func Label(ctx context.Context, posteriors blas32.General, prior []float64) (*adapt.PseudoLabels, error) {
	p, _, err := label(ctx, posteriors, prior)
	return p, err
}

// label is Label, and returns the corrected posteriors as well.
func label(ctx context.Context, posteriors blas32.General, prior []float64) (*adapt.PseudoLabels, blas32.General, error) {
	corrected := dense.Clone(posteriors)
	if err := ctx.Err(); err != nil {
		return nil, corrected, err
	}
	if prior == nil {
		return nil, corrected, errors.New("selftrain: the proportions that the posteriors assume are not known")
	}
	e, err := labelshift.EM(posteriors, prior, labelshift.EMOptions{})
	if err != nil {
		return nil, corrected, err
	}
	p := &adapt.PseudoLabels{Proportions: raise(e.Proportions), Labels: make([]int32, posteriors.Rows)}
	if err := labelshift.Accuracy.Adjust(corrected, prior, p.Proportions); err != nil {
		return nil, corrected, err
	}
	counts := make([]int, len(prior))
	for i := range p.Labels {
		row := dense.Row(corrected, i)
		k := dense.Argmax(row)
		if row[k] <= threshold {
			p.Labels[i] = -1
			continue
		}
		p.Labels[i] = int32(k)
		counts[k]++
	}
	p.Weights = weights(counts)
	return p, corrected, nil
}

// raise adds minShare to each class.
func raise(p []float64) []float64 {
	out := make([]float64, len(p))
	for k, v := range p {
		out[k] = (v + minShare) / (1 + minShare*float64(len(p)))
	}
	return out
}

// weights are the inverse shares of the classes among the labelled rows, bounded and then
// scaled so that their mean over the rows is 1.
func weights(counts []int) []float32 {
	total := 0
	for _, n := range counts {
		total += n
	}
	w, sum := make([]float64, len(counts)), 0.0
	for k, n := range counts {
		w[k] = min(maxWeight, float64(total)/float64(len(counts)*max(1, n)))
		sum += w[k] * float64(n)
	}
	out := make([]float32, len(counts))
	for k := range w {
		if sum > 0 {
			out[k] = float32(w[k] * float64(total) / sum)
		}
	}
	return out
}
