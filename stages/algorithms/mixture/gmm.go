package mixture

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"mars/stages/algorithms/internal/kernel"
)

// errNotPositive is what is wrong with a covariance that has no inverse.
var errNotPositive = errors.New("the covariance is not positive definite: raise the floor, ask for fewer components or a simpler covariance")

// GMM fits a mixture of k Gaussians to the rows of x (n×d) by
// expectation–maximisation (Dempster, Laird & Rubin 1977), the best of several
// starts, each from the partition of one run of KMeans. From the same initial
// parameters it agrees with scikit-learn's GaussianMixture.
//
// Starts whose partitions are equal are run once. The others race: the less likely
// half is given up after 5 steps, again after 10, after 20 and so on (short runs of
// EM as in Biernacki, Celeux & Govaert 2003, halved as in Jamieson & Talwalkar
// 2016), which costs a fraction of running all to their end.
//
// A start at which a covariance ceases to be positive definite is given up as well,
// and one that had lost to it comes back. GMM fails if all are, if there are fewer
// rows than components, if a value is not finite and if all rows are equal; it
// panics unless 1 <= k <= MaxRows. It holds n×k responsibilities and the parameters
// of all starts in memory.
func GMM(x blas32.General, k int, o GMMOptions) (*Result, error) {
	o = o.withDefaults()
	if err := checkRows(x, k); err != nil {
		return nil, err
	}
	if err := o.checkInitial(k, x.Cols); err != nil {
		return nil, err
	}
	rows, sample := sampleRows(x, k, o.MaxRows, newRand(o.Seed, 0))
	r := &Result{}
	best, err := r.race(rows, newMaximiser(rows, k, o).starts(rows, k, o), o)
	if err != nil {
		return nil, err
	}
	r.Components, r.LogLikelihood = best.model, best.logLikelihood
	r.Iterations, r.Converged, r.Ambiguity = best.iterations, best.converged, best.ambiguity
	err = r.finish(x, sample, best.labels, o.Initial != nil)
	return r, err
}

// checkInitial refuses initial parameters that do not fit k, d and Covariance.
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

// shortRun is how many EM steps all starts take before the first are given up.
const shortRun = 5

// race runs EM from the starts and returns the one that ends with the greatest
// likelihood of those that were not given up before; it counts what Failed.
func (r *Result) race(x blas32.General, starts []*expectationMaximisation, o GMMOptions) (*expectationMaximisation, error) {
	var failure error
	running := len(starts) // the first so many
	for limit := shortRun; ; limit *= 2 {
		for i := 0; i < min(running, len(starts)); i++ {
			if err := starts[i].advance(x, limit, o); err != nil {
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
	labels        []int32 // once it is done
	ambiguity     float64 // of them
	logLikelihood float64
	iterations    int
	converged     bool
}

// starts returns the given start or one from each partition that k-means finds.
func (m *maximiser) starts(x blas32.General, k int, o GMMOptions) []*expectationMaximisation {
	if o.Initial != nil {
		return []*expectationMaximisation{m.start(*o.Initial)}
	}
	var starts []*expectationMaximisation
	var partitions [][]int32
	for stream := range o.Starts {
		labels := runLloyd(x, plusPlus(x, k, newRand(o.Seed, stream+1)), KMeansOptions{}.withDefaults()).labels
		order := firstAppearance(labels, k)
		for i, l := range labels {
			labels[i] = order[l]
		}
		if slices.ContainsFunc(partitions, func(p []int32) bool { return slices.Equal(p, labels) }) {
			continue
		}
		partitions = append(partitions, labels)
		starts = append(starts, m.start(m.partitioned(x, labels)))
	}
	return starts
}

func (m *maximiser) start(model Components) *expectationMaximisation {
	return &expectationMaximisation{maximiser: m, model: model, logLikelihood: math.Inf(-1)}
}

// partitioned maximises with the hard responsibilities of a partition.
func (m *maximiser) partitioned(x blas32.General, labels []int32) Components {
	clear(m.responsibilities.Data)
	for i, l := range labels {
		m.responsibilities.Data[i*m.responsibilities.Stride+int(l)] = 1
	}
	return m.maximise(x)
}

// done reports whether there are no more steps to take.
func (em *expectationMaximisation) done(o GMMOptions) bool {
	return em.converged || em.iterations >= o.MaxIterations
}

// advance takes steps until there have been limit or it is done.
func (em *expectationMaximisation) advance(x blas32.General, limit int, o GMMOptions) error {
	for em.iterations < limit && !em.done(o) {
		em.iterations++
		logLikelihood, err := em.expect(x)
		if err != nil {
			return err
		}
		em.model = em.maximise(x)
		em.converged = math.Abs(logLikelihood-em.logLikelihood) < o.Tolerance
		em.logLikelihood = logLikelihood
	}
	if em.labels != nil || !em.done(o) {
		return nil
	}
	assigner, err := em.model.Assigner()
	if err != nil {
		return err
	}
	em.labels = make([]int32, x.Rows)
	em.ambiguity = assigner.assignAmbiguous(em.labels, x)
	return nil
}

// expect computes the responsibilities of the model and returns the mean
// log-likelihood of a row.
func (em *expectationMaximisation) expect(x blas32.General) (float64, error) {
	g, err := newGaussians(&em.model)
	if err != nil {
		return 0, err
	}
	k := em.responsibilities.Cols
	sum := sumBlocks(x.Rows, func(lo, hi int) float64 {
		block := view(em.responsibilities, lo, hi, 0, k)
		g.score(block, x, lo, hi)
		sum := 0.0
		for i := range block.Rows {
			sum += normalize(block.Data[i*k:][:k])
		}
		return sum
	})
	return sum / float64(x.Rows), nil
}

// maximiser estimates parameters from responsibilities. It is made once for
// all starts.
type maximiser struct {
	form             Covariance
	floor            float64
	responsibilities blas64.General // n×K
	origin           []float64      // column means; tied form only
	scatter          blas64.General // d×d around origin; tied form only
}

func newMaximiser(x blas32.General, k int, o GMMOptions) *maximiser {
	m := &maximiser{form: o.Covariance, floor: o.Floor, responsibilities: newMatrix(x.Rows, k)}
	if o.Covariance == Tied {
		m.origin = columnMeans(x)
		m.scatter = newMatrix(x.Cols, x.Cols)
		addScatter(m.scatter, x, m.origin, func(int) float64 { return 1 })
	}
	return m
}

// maximise returns the weights, means and covariances of greatest likelihood
// given the responsibilities.
func (m *maximiser) maximise(x blas32.General) Components {
	k := m.responsibilities.Cols
	c := Components{Weights: make([]float64, k), Means: mat.NewDense(k, x.Cols, nil), Covariances: make([][]float64, k)}
	counts := make([]float64, k)
	kernel.Parallel(k, 1, func(lo, hi int) {
		for j := lo; j < hi; j++ {
			counts[j] = m.mean(c.Means.RawRowView(j), x, j)
			if m.form != Tied {
				c.Covariances[j] = m.covariance(x, j, c.Means.RawRowView(j), counts[j])
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
	return c
}
