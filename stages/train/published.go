package train

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/mixture"
	"mars.dev/mars/stages/algorithms/transport"
)

// publishedRows is how many rows the authors' program fits a Gaussian mixture to.
const publishedRows = 2000

// publishedMixture is the clustering of marsg in the authors' program: a mixture of
// the first rows alone (which come shuffled, see adapt.Config.FirstBatchTwice), whose
// components stand for the rows that are most likely theirs, in their counts and in
// their means. A component without rows, at which the program gives NaN, keeps the
// mixture's mean.
func publishedMixture(seed uint64) labelshift.Cluster {
	return func(ctx context.Context, x blas32.General, k int) (*mixture.Result, error) {
		x.Rows = min(x.Rows, publishedRows)
		r, err := mixture.GMM(ctx, x, k, mixture.GMMOptions{Seed: seed})
		if err != nil {
			return nil, err
		}
		hard := transport.NewPrototypes(k, x.Cols)
		if err := hard.Add(ctx, x, r.Labels); err != nil {
			return nil, err
		}
		means := hard.Means()
		for j, n := range r.Counts {
			if n > 0 {
				r.Means.SetRow(j, means.RawRowView(j))
			}
		}
		return r, nil
	}
}

// averaged is the mean of an estimator's estimates so far.
func averaged(estimate adapt.Estimator) adapt.Estimator {
	return func(ctx context.Context, s adapt.Snapshot) ([]float64, error) {
		p, err := estimate(ctx, s)
		if err != nil {
			return nil, err
		}
		n := float64(s.Estimates)
		for k := range p {
			p[k] = (n*s.Proportions[k] + p[k]) / (n + 1)
		}
		return p, nil
	}
}
