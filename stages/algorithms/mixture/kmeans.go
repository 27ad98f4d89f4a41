package mixture

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// KMeans divides the rows of x (n×d) among k means so that the sum of squared
// distances is small. It runs Lloyd's algorithm from the seeds of k-means++
// (Arthur & Vassilvitskii 2007) and takes the best of several starts.
//
// A mean that loses all its rows takes over the row that is farthest from its
// own mean; a second such mean takes the second farthest, and so on.
// scikit-learn does the same, so results agree with its KMeans from the same
// centres.
//
// It fails if there are fewer rows than components, a value is not finite or
// all rows are equal, returns ctx.Err() if ctx ends, and panics unless
// 1 <= k <= MaxRows.
func KMeans(ctx context.Context, x blas32.General, k int, o KMeansOptions) (*Result, error) {
	o = o.withDefaults()
	if err := checkRows(x, k); err != nil {
		return nil, err
	}
	if err := checkCentres(o.Initial, k, x.Cols); err != nil {
		return nil, err
	}
	rows, sample := sampleRows(x, k, o.MaxRows, newRand(o.Seed, 0))
	var best *lloyd
	for start := range o.Starts {
		run, err := lloydStart(ctx, rows, k, start, o)
		if err != nil {
			return nil, err
		}
		if best == nil || run.inertia < best.inertia {
			best = run
		}
	}
	r := &Result{
		Components: Components{Means: best.centres},
		Iterations: best.iterations, Converged: best.converged, Inertia: best.inertia,
	}
	return r, r.finish(ctx, x, sample, best.labels, o.Initial != nil)
}

func checkCentres(initial *mat.Dense, k, d int) error {
	if initial == nil {
		return nil
	}
	if r, c := initial.Dims(); r != k || c != d {
		return fmt.Errorf("mixture: initial centres are %d×%d: give %d×%d", r, c, k, d)
	}
	return nil
}

// lloyd is the result of one start of Lloyd's algorithm.
type lloyd struct {
	labels     []int32
	centres    *mat.Dense // k×d
	inertia    float64
	iterations int
	converged  bool
}

// lloydStart runs Lloyd's algorithm from the given centres or, if there are
// none, from those of the numbered start.
func lloydStart(ctx context.Context, x blas32.General, k, start int, o KMeansOptions) (*lloyd, error) {
	centres := o.Initial
	if centres == nil {
		var err error
		if centres, err = plusPlus(ctx, x, k, newRand(o.Seed, start+1)); err != nil {
			return nil, err
		}
	}
	return runLloyd(ctx, x, centres, o)
}

func runLloyd(ctx context.Context, x blas32.General, initial *mat.Dense, o KMeansOptions) (*lloyd, error) {
	k, _ := initial.Dims()
	run := &lloyd{labels: make([]int32, x.Rows), centres: mat.DenseCopyOf(initial)}
	previous := make([]int32, x.Rows)
	variance, err := meanVariance(ctx, x)
	if err != nil {
		return nil, err
	}
	settled := false // the labels have not changed
	for run.iterations < o.MaxIterations && !run.converged {
		run.iterations++
		copy(previous, run.labels)
		if err := nearest(ctx, run.labels, x, run.centres); err != nil {
			return nil, err
		}
		centres := moveCentres(x, run.labels, run.centres, k)
		movement := squaredMovement(run.centres, centres)
		run.centres = centres
		settled = run.iterations > 1 && slices.Equal(previous, run.labels)
		run.converged = settled || movement <= o.Tolerance*variance
	}
	if !settled { // the centres have moved since the rows were labelled
		if err := nearest(ctx, run.labels, x, run.centres); err != nil {
			return nil, err
		}
	}
	run.inertia, err = inertia(ctx, x, run.labels, run.centres)
	return run, err
}

// nearest labels each row of x with its nearest centre.
func nearest(ctx context.Context, labels []int32, x blas32.General, centres *mat.Dense) error {
	k, d := centres.Dims()
	a := Assigner{scorer: newCentroids(centres), k: k, d: d}
	return a.Assign(ctx, labels, x)
}

// moveCentres returns the means of the rows of each label. A label without
// rows is given one first.
func moveCentres(x blas32.General, labels []int32, centres *mat.Dense, k int) *mat.Dense {
	means, counts := clusterMeans(x, labels, k)
	if !slices.Contains(counts, 0) {
		return means
	}
	relocated := slices.Clone(labels)
	far := farthestRows(x, labels, centres)
	for c := range counts {
		for ; counts[c] == 0; far = far[1:] {
			if from := labels[far[0]]; counts[from] > 1 { // leave no other label empty
				relocated[far[0]] = int32(c)
				counts[from]--
				counts[c]++
			}
		}
	}
	means, _ = clusterMeans(x, relocated, k)
	return means
}

// farthestRows returns the rows by decreasing distance from their centres.
func farthestRows(x blas32.General, labels []int32, centres *mat.Dense) []int {
	distance, order := make([]float64, x.Rows), make([]int, x.Rows)
	for i := range order {
		order[i] = i
		distance[i] = squaredDistance(dense.Row(x, i), centres.RawRowView(int(labels[i])))
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case distance[a] > distance[b]:
			return -1
		case distance[a] < distance[b]:
			return 1
		}
		return 0
	})
	return order
}

// squaredMovement returns the sum of squared distances between the rows of a
// and b.
func squaredMovement(a, b *mat.Dense) float64 {
	var diff mat.Dense
	diff.Sub(a, b)
	return square(diff.RawMatrix().Data)
}

// meanVariance returns the mean of the variances of the columns of x.
func meanVariance(ctx context.Context, x blas32.General) (float64, error) {
	mean := dense.ColumnMeans(x)
	sum, err := sumBlocks(ctx, x.Rows, func(lo, hi int) float64 {
		sum := 0.0
		for i := lo; i < hi; i++ {
			sum += squaredDistance(dense.Row(x, i), mean)
		}
		return sum
	})
	return sum / float64(x.Rows) / float64(x.Cols), err
}

// plusPlus draws k rows as centres by greedy k-means++: the first uniformly,
// each other one as the best of 2 + ln k candidates, which are drawn with
// probabilities proportional to their squared distance to the nearest centre.
func plusPlus(ctx context.Context, x blas32.General, k int, rng *rand.Rand) (*mat.Dense, error) {
	centres := mat.NewDense(k, x.Cols, nil)
	distance := make([]float64, x.Rows) // to the nearest centre, squared
	for i := range distance {
		distance[i] = math.Inf(1)
	}
	setCentre(centres, 0, x, rng.IntN(x.Rows))
	total, err := approach(ctx, distance, distance, x, centres.RawRowView(0))
	if err != nil {
		return nil, err
	}
	candidate, chosen := make([]float64, x.Rows), make([]float64, x.Rows)
	for c := 1; c < k; c++ {
		best := math.Inf(1)
		for range 2 + int(math.Log(float64(k))) {
			i := drawIndex(distance, total, rng)
			centre := make([]float64, x.Cols)
			widen(centre, dense.Row(x, i))
			sum, err := approach(ctx, candidate, distance, x, centre)
			if err != nil {
				return nil, err
			}
			if sum < best {
				best = sum
				setCentre(centres, c, x, i)
				candidate, chosen = chosen, candidate
			}
		}
		distance, chosen, total = chosen, distance, best
	}
	return centres, nil
}

// setCentre makes row i of x centre c.
func setCentre(centres *mat.Dense, c int, x blas32.General, i int) {
	widen(centres.RawRowView(c), dense.Row(x, i))
}

// widen converts src to float64.
func widen(dst []float64, src []float32) {
	for j, v := range src {
		dst[j] = float64(v)
	}
}

// approach writes to dst the squared distance of each row to its nearest
// centre when centre is added to those that distance belongs to. It returns
// the sum of dst.
func approach(ctx context.Context, dst, distance []float64, x blas32.General, centre []float64) (float64, error) {
	return sumBlocks(ctx, x.Rows, func(lo, hi int) float64 {
		sum := 0.0
		for i := lo; i < hi; i++ {
			dst[i] = min(distance[i], squaredDistance(dense.Row(x, i), centre))
			sum += dst[i]
		}
		return sum
	})
}

// drawIndex returns i with probability weight[i]/total, or any index if all
// weights are zero because there are fewer distinct rows than centres.
func drawIndex(weight []float64, total float64, rng *rand.Rand) int {
	left := rng.Float64() * total
	for i, w := range weight {
		left -= w
		if left < 0 {
			return i
		}
	}
	return rng.IntN(len(weight))
}
