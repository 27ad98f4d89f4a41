package mixture

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// errNotPositive is the error for a covariance that has no inverse.
var errNotPositive = errors.New("the covariance is not positive definite: raise the floor, ask for fewer components or a simpler covariance")

// GMM fits a mixture of k Gaussians to the rows of x (n×d) by
// expectation–maximisation (Dempster, Laird & Rubin 1977). It takes the best of
// several starts, each from the partition of one run of KMeans. From the same
// initial parameters it agrees with scikit-learn's GaussianMixture.
//
// Starts with equal partitions are run once. The others race: the less likely
// half is stopped after 5 steps, again after 10, after 20 and so on (short runs
// of EM as in Biernacki, Celeux & Govaert 2003, halved as in Jamieson &
// Talwalkar 2016). This costs a fraction of running all starts to their end.
//
// A start also fails when a covariance is no longer positive definite; then the
// next best of the stopped starts continues in its place. GMM fails if all
// starts do, if there are fewer rows than components, if a value is not finite
// or if all rows are equal. It returns ctx.Err() if ctx ends, and panics unless
// 1 <= k <= MaxRows. It holds n×k responsibilities and the parameters of all
// starts in memory.
func GMM(ctx context.Context, x blas32.General, k int, o GMMOptions) (*Result, error) {
	o = o.withDefaults()
	if err := checkRows(x, k); err != nil {
		return nil, err
	}
	if err := o.checkInitial(k, x.Cols); err != nil {
		return nil, err
	}
	rows, sample := sampleRows(x, k, o.MaxRows, newRand(o.Seed, 0))
	starts, err := newMaximiser(ctx, rows, k, o).starts(ctx, rows, k, o)
	if err != nil {
		return nil, err
	}
	r := &Result{}
	best, err := r.race(ctx, rows, starts, o)
	if err != nil {
		return nil, err
	}
	r.Components, r.LogLikelihood = best.model, best.logLikelihood
	r.Iterations, r.Converged, r.Ambiguity = best.iterations, best.converged, best.ambiguity
	return r, r.finish(ctx, x, sample, best.labels, o.Initial != nil)
}

// checkInitial returns an error for initial parameters that do not fit k, d and
// Covariance.
func (o *GMMOptions) checkInitial(k, d int) error {
	if o.Initial == nil {
		return nil
	}
	if err := checkCentres(o.Initial.Means, k, d); err != nil {
		return err
	}
	size := map[Covariance]int{Full: d * d, Tied: d * d, Diagonal: d, Spherical: 1}[o.Covariance]
	for i, v := range o.Initial.Covariances {
		if len(v) != size {
			return fmt.Errorf("mixture: initial covariance %d has %d values: give %d for %s", i, len(v), size, o.Covariance)
		}
	}
	if o.Initial.Covariances == nil {
		return errors.New("mixture: initial components have no covariances: give one a component")
	}
	return o.Initial.check()
}

// shortRun is how many EM steps all starts take before the first are stopped.
const shortRun = 5

// race runs EM from the starts. It returns the one with the greatest likelihood
// at the end, among those that were not stopped before. Failed counts the starts
// that failed.
func (r *Result) race(ctx context.Context, x blas32.General, starts []*expectationMaximisation, o GMMOptions) (*expectationMaximisation, error) {
	var failure error
	running := len(starts) // starts[:running] have not been stopped
	for limit := shortRun; ; limit *= 2 {
		for i := 0; i < min(running, len(starts)); i++ {
			err := starts[i].advance(ctx, x, limit, o)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err != nil {
				failure = err
				r.Failed++
				starts = slices.Delete(starts, i, i+1)
				i--
			}
		}
		if len(starts) == 0 {
			return nil, failure
		}
		running = min(running, len(starts))
		slices.SortStableFunc(starts[:running], func(a, b *expectationMaximisation) int {
			return cmp.Compare(b.logLikelihood, a.logLikelihood)
		})
		if running == 1 && starts[0].done(o) {
			return starts[0], nil
		}
		running = max(1, running/2)
	}
}

// expectationMaximisation is one start of EM.
type expectationMaximisation struct {
	*maximiser
	model         Components
	labels        []int32 // set when it is done
	ambiguity     float64 // of the labels, see Result
	logLikelihood float64
	iterations    int
	converged     bool
}

// starts returns the given start, or one from each partition that k-means finds.
func (m *maximiser) starts(ctx context.Context, x blas32.General, k int, o GMMOptions) ([]*expectationMaximisation, error) {
	if o.Initial != nil {
		return []*expectationMaximisation{m.start(*o.Initial)}, ctx.Err()
	}
	var starts []*expectationMaximisation
	var partitions [][]int32
	for stream := range o.Starts {
		run, err := lloydStart(ctx, x, k, stream, KMeansOptions{Seed: o.Seed}.withDefaults())
		if err != nil {
			return nil, err
		}
		labels := run.labels
		order := firstAppearance(labels, k)
		for i, l := range labels {
			labels[i] = order[l]
		}
		if slices.ContainsFunc(partitions, func(p []int32) bool { return slices.Equal(p, labels) }) {
			continue
		}
		partitions = append(partitions, labels)
		model, err := m.partitioned(ctx, x, labels)
		if err != nil {
			return nil, err
		}
		starts = append(starts, m.start(model))
	}
	return starts, nil
}

func (m *maximiser) start(model Components) *expectationMaximisation {
	return &expectationMaximisation{maximiser: m, model: model, logLikelihood: math.Inf(-1)}
}

// partitioned returns the components of a partition: maximise with
// responsibilities of 0 and 1.
func (m *maximiser) partitioned(ctx context.Context, x blas32.General, labels []int32) (Components, error) {
	clear(m.responsibilities.Data)
	for i, l := range labels {
		m.responsibilities.Data[i*m.responsibilities.Stride+int(l)] = 1
	}
	return m.maximise(ctx, x)
}

// done reports whether there are no more steps to take.
func (em *expectationMaximisation) done(o GMMOptions) bool {
	return em.converged || em.iterations >= o.MaxIterations
}

// advance takes steps until it has taken limit in all or is done.
func (em *expectationMaximisation) advance(ctx context.Context, x blas32.General, limit int, o GMMOptions) error {
	for em.iterations < limit && !em.done(o) {
		em.iterations++
		logLikelihood, err := em.expect(ctx, x)
		if err != nil {
			return err
		}
		if em.model, err = em.maximise(ctx, x); err != nil {
			return err
		}
		em.converged = math.Abs(logLikelihood-em.logLikelihood) < o.Tolerance
		em.logLikelihood = logLikelihood
	}
	if em.labels != nil || !em.done(o) {
		return nil
	}
	assigner, err := em.model.Assigner(ctx)
	if err != nil {
		return err
	}
	em.labels = make([]int32, x.Rows)
	em.ambiguity, err = assigner.assignAmbiguous(ctx, em.labels, x)
	return err
}

// expect computes the responsibilities of the model and returns the mean
// log-likelihood of a row.
func (em *expectationMaximisation) expect(ctx context.Context, x blas32.General) (float64, error) {
	g, err := newGaussians(ctx, &em.model)
	if err != nil {
		return 0, err
	}
	if err := g.score(ctx, em.responsibilities, x); err != nil {
		return 0, err
	}
	k := em.responsibilities.Cols
	sum, err := sumBlocks(ctx, x.Rows, func(lo, hi int) float64 {
		block := view(em.responsibilities, lo, hi, 0, k)
		sum := 0.0
		for i := range block.Rows {
			sum += normalize(block.Data[i*k:][:k])
		}
		return sum
	})
	return sum / float64(x.Rows), err
}

// maximiser estimates parameters from responsibilities. All starts share one.
type maximiser struct {
	form             Covariance
	floor            float64
	responsibilities blas64.General // n×K
	origin           []float64      // column means; Tied only
	scatter          blas64.General // d×d, around origin; Tied only
}

// newMaximiser returns a maximiser that is unfinished if ctx has ended.
func newMaximiser(ctx context.Context, x blas32.General, k int, o GMMOptions) *maximiser {
	m := &maximiser{form: o.Covariance, floor: o.Floor, responsibilities: dense.New64(x.Rows, k)}
	if o.Covariance == Tied {
		m.origin = dense.ColumnMeans(x)
		m.scatter = dense.New64(x.Cols, x.Cols)
		addScatter(ctx, m.scatter, x, m.origin, func(int) float64 { return 1 })
	}
	return m
}

// maximise returns the weights, means and covariances of greatest likelihood
// given the responsibilities.
func (m *maximiser) maximise(ctx context.Context, x blas32.General) (Components, error) {
	k := m.responsibilities.Cols
	c := Components{Weights: make([]float64, k), Means: mat.NewDense(k, x.Cols, nil), Covariances: make([][]float64, k)}
	counts := make([]float64, k)
	kernel.Parallel(k, 1, func(lo, hi int) {
		for j := lo; j < hi && ctx.Err() == nil; j++ {
			counts[j] = m.mean(c.Means.RawRowView(j), x, j)
			if m.form != Tied {
				c.Covariances[j] = m.covariance(ctx, x, j, c.Means.RawRowView(j), counts[j])
			}
		}
	})
	if m.form == Tied {
		m.tie(&c, counts)
	}
	total := 0.0
	for _, n := range counts {
		total += n
	}
	for j, n := range counts {
		c.Weights[j] = n / total
	}
	return c, ctx.Err()
}
