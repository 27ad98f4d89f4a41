package labelshift

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/mixture"
	"mars.dev/mars/stages/algorithms/transport"
)

// A Cluster fits a mixture of k components to the rows of x (n×d).
type Cluster func(ctx context.Context, x blas32.General, k int) (*mixture.Result, error)

// Matched estimates p_T by Algorithm 2 of the paper: the target's rows (n_T×d)
// are clustered in as many components as there are classes, each component is
// matched with a class by optimal transport between their means, and its share
// of the rows is that of the class. With Ward's clustering that is MARSc, with a
// Gaussian mixture MARSg. Every class must have a source row.
func Matched(ctx context.Context, in *Inputs, cluster Cluster) (*Result, error) {
	target, err := in.targetRows()
	if err != nil {
		return nil, err
	}
	fit, err := cluster(ctx, target, in.Classes)
	if err != nil {
		return nil, err
	}
	prototypes := transport.NewPrototypes(in.Classes, in.Source.Cols)
	if err := prototypes.Add(ctx, in.Source, in.Labels); err != nil {
		return nil, err
	}
	m, err := transport.MatchPrototypes(ctx, prototypes.Means(), prototypes.Counts(), fit.Means, fit.Proportions)
	if err != nil {
		return nil, err
	}
	return &Result{Proportions: m.Proportions, Iterations: fit.Iterations, Converged: fit.Converged, Clustering: fit, Matching: m}, nil
}

// ward is the clustering of MARSc.
func ward(seed uint64) Cluster {
	return func(ctx context.Context, x blas32.General, k int) (*mixture.Result, error) {
		return mixture.Ward(ctx, x, k, mixture.WardOptions{Seed: seed})
	}
}

// gmm is the clustering of MARSg.
func gmm(seed uint64) Cluster {
	return func(ctx context.Context, x blas32.General, k int) (*mixture.Result, error) {
		return mixture.GMM(ctx, x, k, mixture.GMMOptions{Seed: seed})
	}
}
