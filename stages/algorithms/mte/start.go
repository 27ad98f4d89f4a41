package mte

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/mixture"
	"mars.dev/mars/stages/algorithms/transport"
)

const (
	rematchings = 3    // of twice as many clusters as classes
	startFloor  = 1e-3 // of the variances of the Gaussian mixture, in units of the mean pooled variance
	startSteps  = 60   // of the Gaussian mixture's EM
	minMeanRows = 4    // mean rows of a cluster of the finer clustering, at least
)

// displacement is a guess of how far the classes have moved.
type displacement struct {
	name string
	by   []float64 // q
}

// displacements returns the starting points of MTE: no displacement, that of
// the overall mean, and the median over the classes of the displacement to the
// component each is matched with, from Ward's clustering with C components,
// with 2C components, and from a Gaussian mixture.
func displacements(ctx context.Context, g *gaussians, x blas32.General, rows int, seed uint64) (starts []displacement, warnings []string, err error) {
	classes, q := g.means.Dims()
	means := dense.ColumnMeans(x)
	floats.Sub(means, weightedMean(g.means, g.prior))
	starts = []displacement{{"none", make([]float64, q)}, {"means", means}}

	sample := startRows(x, rows, seed)
	tree, err := mixture.Linkage(ctx, sample)
	if err != nil {
		return nil, nil, fmt.Errorf("mte: clustering the target: %w", err)
	}
	ward, err := matchedDisplacement(ctx, g.means, starts[0].by, clusterMeans(sample, tree.Cut(classes), classes))
	if err != nil {
		return nil, nil, err
	}
	finer, err := finerDisplacement(ctx, g.means, ward, sample, tree)
	if err != nil {
		return nil, nil, err
	}
	starts = append(starts, displacement{"ward", ward}, displacement{"ward2", finer})

	gmm, err := mixture.GMM(ctx, sample, classes, mixture.GMMOptions{Starts: 1, MaxIterations: startSteps, MaxRows: sample.Rows,
		Floor: startFloor * mat.Trace(g.pooled) / float64(q), Seed: seed})
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	if err != nil {
		return starts, []string{fmt.Sprintf("no start from a Gaussian mixture: %v", err)}, nil
	}
	by, err := matchedDisplacement(ctx, g.means, starts[0].by, gmm.Means)
	return append(starts, displacement{"gmm", by}), nil, err
}

// finerDisplacement is the matched displacement from twice as many clusters,
// where there are rows for them: matched anew from where the last matching
// moved the classes.
func finerDisplacement(ctx context.Context, means *mat.Dense, from []float64, sample blas32.General, tree *mixture.Hierarchy) ([]float64, error) {
	classes, _ := means.Dims()
	k := min(2*classes, sample.Rows/minMeanRows)
	if k < classes {
		return from, nil
	}
	clusters := clusterMeans(sample, tree.Cut(k), k)
	for range rematchings {
		var err error
		if from, err = matchedDisplacement(ctx, means, from, clusters); err != nil {
			return nil, err
		}
	}
	return from, nil
}

// matchedDisplacement matches the class means, moved by from, one to one with
// clusters and returns the median displacement in each coordinate.
func matchedDisplacement(ctx context.Context, means *mat.Dense, from []float64, clusters *mat.Dense) ([]float64, error) {
	classes, q := means.Dims()
	k, _ := clusters.Dims()
	cost := mat.NewDense(classes, k, nil)
	moved := make([]float64, q)
	for i := range classes {
		floats.AddTo(moved, means.RawRowView(i), from)
		for j := range k {
			d := floats.Distance(moved, clusters.RawRowView(j), 2)
			cost.Set(i, j, d*d)
		}
	}
	cluster, _, err := transport.Assign(ctx, cost)
	if err != nil {
		return nil, fmt.Errorf("mte: matching classes with clusters: %w", err)
	}
	median, values := make([]float64, q), make([]float64, classes)
	for j := range median {
		for i, c := range cluster {
			values[i] = clusters.At(c, j) - means.At(i, j)
		}
		median[j] = dense.Median(values)
	}
	return median, nil
}

// startRows returns the rows that are clustered: all or a random sample, sorted
// so that the clusters do not depend on the order that they came in.
func startRows(x blas32.General, limit int, seed uint64) blas32.General {
	index := sampleIndex(x.Rows, limit, seed)
	slices.SortFunc(index, func(i, j int) int {
		return cmp.Or(slices.Compare(dense.Row(x, i), dense.Row(x, j)), cmp.Compare(i, j))
	})
	return dense.Gather(x, index)
}

// clusterMeans returns the k×q means of the rows of each cluster.
func clusterMeans(x blas32.General, labels []int32, k int) *mat.Dense {
	means, counts := mat.NewDense(k, x.Cols, nil), make([]float64, k)
	for i, l := range labels {
		counts[l]++
		mean := means.RawRowView(int(l))
		for j, v := range dense.Row(x, i) {
			mean[j] += float64(v)
		}
	}
	for l, n := range counts {
		floats.Scale(1/n, means.RawRowView(l))
	}
	return means
}
