package hedge

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/discriminant"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/kernelridge"
	"mars.dev/mars/stages/algorithms/validate"
)

const (
	// circleRows is how many target rows at most the circle learns from.
	circleRows = 1_500
	// maxCircleWeight bounds the weight of a row of a class that few rows are
	// labelled as.
	maxCircleWeight = 50
)

// circle labels the target's rows by the posteriors q (n_T×C), learns these labels
// with every class weighted alike, and returns the mean share of each class of the
// (moved) source rows x that the learner labels right. Wrong labels of the target do
// not find their way back. It takes a quicker learner where classes are crowded, or it weighs nothing.
func (f *fit) circle(ctx context.Context, x, q blas32.General) (float64, error) {
	if f.crowded || f.settled() {
		return f.linearCircle(ctx, x, q)
	}
	index := dense.Sample(f.target.Rows, circleRows, f.random(streamCircle))
	found := dense.ArgmaxRows(dense.Gather(q, index))
	back, err := kernelridge.Fit(ctx, dense.Gather(f.target, index), found, q.Cols, f.hyper(),
		kernelridge.Options{Weights: balancing(found, q.Cols), Landmarks: circleRows, Seed: f.Seed})
	if err != nil {
		return 0, err
	}
	return validate.BalancedAccuracy(dense.ArgmaxRows(back.Scores(x)), f.labels, q.Cols), nil
}

// linearCircle is circle by a linear discriminant, which can learn from all rows.
func (f *fit) linearCircle(ctx context.Context, x, q blas32.General) (float64, error) {
	back, err := discriminant.Fit(ctx, f.target, dense.ArgmaxRows(q), q.Cols, discriminant.Options{Alike: true})
	if err != nil {
		return 0, err
	}
	found := make([]int32, x.Rows)
	err = eachBlock(ctx, x.Rows, func(lo, hi int) error {
		copy(found[lo:hi], dense.ArgmaxRows(back.Logits(dense.Rows(x, lo, hi))))
		return nil
	})
	return validate.BalancedAccuracy(found, f.labels, q.Cols), err
}

// balancing returns weights of rows with which all classes that occur have the same
// weight.
func balancing(labels []int32, classes int) []float64 {
	counts, present := make([]float64, classes), 0.0
	for _, k := range labels {
		if counts[k] == 0 {
			present++
		}
		counts[k]++
	}
	weights := make([]float64, len(labels))
	for i, k := range labels {
		weights[i] = min(float64(len(labels))/counts[k]/present, maxCircleWeight)
	}
	return weights
}
