package labelshift

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mars/stages/algorithms/mixture"
	"mars/stages/algorithms/transport"
)

const (
	rematchings   = 3    // of twice as many clusters as classes
	startFloor    = 1e-3 // of the variances of the Gaussian mixture, in units of the mean pooled variance
	startSteps    = 60   // of the Gaussian mixture's EM
	leastRowsEach = 4    // a cluster of the finer clustering has at least so many rows on average
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
func displacements(g *gaussians, x blas32.General, rows int, seed uint64) (starts []displacement, warnings []string, err error) {
	classes, q := g.means.Dims()
	means := columnMeans(x)
	floats.Sub(means, weightedMean(g.means, g.prior))
	starts = []displacement{{"none", make([]float64, q)}, {"means", means}}

	sample := startRows(x, rows, seed)
	tree, err := mixture.Linkage(context.TODO(), sample)
	if err != nil {
		return nil, nil, fmt.Errorf("labelshift: clustering the target: %w", err)
	}
	ward, err := matchedDisplacement(g.means, starts[0].by, clusterMeans(sample, tree.Cut(classes), classes))
	if err != nil {
		return nil, nil, err
	}
	finer, err := finerDisplacement(g.means, ward, sample, tree)
	if err != nil {
		return nil, nil, err
	}
	starts = append(starts, displacement{"ward", ward}, displacement{"ward2", finer})

	gmm, err := mixture.GMM(context.TODO(), sample, classes, mixture.GMMOptions{Starts: 1, MaxIterations: startSteps, MaxRows: sample.Rows,
		Floor: startFloor * mat.Trace(g.pooled) / float64(q), Seed: seed})
	if err != nil {
		return starts, []string{fmt.Sprintf("no start from a Gaussian mixture: %v", err)}, nil
	}
	by, err := matchedDisplacement(g.means, starts[0].by, gmm.Means)
	return append(starts, displacement{"gmm", by}), nil, err
}

// finerDisplacement is the matched displacement from twice as many clusters,
// where there are rows for them: matched anew from where the last matching
// moved the classes.
func finerDisplacement(means *mat.Dense, from []float64, sample blas32.General, tree *mixture.Hierarchy) ([]float64, error) {
	classes, _ := means.Dims()
	k := min(2*classes, sample.Rows/leastRowsEach)
	if k < classes {
		return from, nil
	}
	clusters := clusterMeans(sample, tree.Cut(k), k)
	for range rematchings {
		var err error
		if from, err = matchedDisplacement(means, from, clusters); err != nil {
			return nil, err
		}
	}
	return from, nil
}

// matchedDisplacement matches the class means, moved by from, one to one with
// clusters and returns the median displacement in each coordinate.
func matchedDisplacement(means *mat.Dense, from []float64, clusters *mat.Dense) ([]float64, error) {
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
	cluster, _, err := transport.Assign(context.TODO(), cost)
	if err != nil {
		return nil, fmt.Errorf("labelshift: matching classes with clusters: %w", err)
	}
	median, values := make([]float64, q), make([]float64, classes)
	for j := range median {
		for i, c := range cluster {
			values[i] = clusters.At(c, j) - means.At(i, j)
		}
		median[j] = medianOf(values)
	}
	return median, nil
}

// medianOf sorts values and returns the middle one, or the mean of two.
func medianOf(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// startRows returns the rows that are clustered: all or a random sample, sorted
// so that the clusters do not depend on the order that they came in.
func startRows(x blas32.General, most int, seed uint64) blas32.General {
	index := sampleIndex(x.Rows, most, seed)
	slices.SortFunc(index, func(i, j int) int {
		return cmp.Or(slices.Compare(row(x, i), row(x, j)), cmp.Compare(i, j))
	})
	return gather(x, index)
}

// sampleIndex returns at most so many of the numbers 0 to n−1, in order.
func sampleIndex(n, most int, seed uint64) []int {
	if n <= most {
		index := make([]int, n)
		for i := range index {
			index[i] = i
		}
		return index
	}
	index := rand.New(rand.NewPCG(seed, sampleStream)).Perm(n)[:most]
	slices.Sort(index)
	return index
}

// Streams of random numbers of one seed.
const (
	sampleStream = iota
	replicateStream
)

func gather(x blas32.General, index []int) blas32.General {
	s := newRows(len(index), x.Cols)
	for to, from := range index {
		copy(row(s, to), row(x, from))
	}
	return s
}

func columnMeans(x blas32.General) []float64 {
	mean := make([]float64, x.Cols)
	for i := range x.Rows {
		for j, v := range row(x, i) {
			mean[j] += float64(v)
		}
	}
	floats.Scale(1/float64(x.Rows), mean)
	return mean
}

// clusterMeans returns the k×q means of the rows of each cluster.
func clusterMeans(x blas32.General, labels []int32, k int) *mat.Dense {
	means, counts := mat.NewDense(k, x.Cols, nil), make([]float64, k)
	for i, l := range labels {
		counts[l]++
		mean := means.RawRowView(int(l))
		for j, v := range row(x, i) {
			mean[j] += float64(v)
		}
	}
	for l, n := range counts {
		floats.Scale(1/n, means.RawRowView(l))
	}
	return means
}
