package validate

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/logistic"
)

const (
	// domainC is logistic.Options.C of the classifier of the domains: scikit-learn's 1, for
	// two classes, where that has one vector of weights.
	domainC = 0.5
	// domainTolerance ends its fit where its posteriors no longer change.
	domainTolerance = 1e-5
	// domainIterations bounds it.
	domainIterations = 500
	// leastPosterior is the least that a loss takes a posterior for.
	leastPosterior = 1e-15
)

// Deep is minus the loss, −log of the posterior of its label, of the rows x (n×d, embedded),
// with the weights p(target)/p(source) of a logistic regression that tells the rows of source
// from those of target (embedded too), and the mean of the weights as a control variate. The
// end of ctx ends it.
func Deep(ctx context.Context, source, target, x blas32.General, labels []int32, posteriors blas32.General) (float64, error) {
	both := dense.New(source.Rows+target.Rows, source.Cols)
	for i := range both.Rows {
		from, at := source, i
		if i >= source.Rows {
			from, at = target, i-source.Rows
		}
		copy(dense.Row(both, i), dense.Row(from, at))
	}
	domains := slices.Concat(make([]int32, source.Rows), slices.Repeat([]int32{1}, target.Rows))
	m, err := logistic.Fit(ctx, both, domains, 2, logistic.Options{C: domainC, Tolerance: domainTolerance, Iterations: domainIterations})
	if err != nil {
		return 0, err
	}
	ratio := float64(source.Rows) / float64(target.Rows)
	weights, losses := make([]float64, x.Rows), make([]float64, x.Rows)
	for i := range weights {
		weights[i] = ratio * math.Exp(domainLogit(m, dense.Row(x, i)))
		p := float64(dense.Row(posteriors, i)[labels[i]])
		losses[i] = -math.Log(min(max(p, leastPosterior), 1-leastPosterior)) * weights[i]
	}
	return -controlled(losses, weights), nil
}

// domainLogit is log p(target) − log p(source) of a row.
func domainLogit(m *logistic.Model, row []float32) float64 {
	logit := float64(m.Bias[1]) - float64(m.Bias[0])
	for j, v := range row {
		w := dense.Row(m.Weights, j)
		logit += float64(v) * (float64(w[1]) - float64(w[0]))
	}
	return logit
}

// controlled is the mean of losses, corrected by how far the mean of weights is from 1 and
// how both go together.
func controlled(losses, weights []float64) float64 {
	n := float64(len(losses))
	loss, weight := dense.Sum(losses)/n, dense.Sum(weights)/n
	covariance, variance := 0.0, 0.0
	for i, w := range weights {
		covariance += (losses[i] - loss) * (w - weight)
		variance += (w - weight) * (w - weight)
	}
	if variance == 0 {
		return loss
	}
	eta := -covariance / variance
	return loss + eta*weight - eta
}
