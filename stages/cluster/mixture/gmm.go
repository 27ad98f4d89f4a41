package mixture

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"mars/stages/internal/kernel"
)

// errNotPositive is what is wrong with a covariance that has no inverse.
var errNotPositive = errors.New("the covariance is not positive definite: raise the floor, ask for fewer components or a simpler covariance")

// GMM fits a mixture of k Gaussians to the rows of x (n×d) by
// expectation–maximisation (Dempster, Laird & Rubin 1977), the best of several
// starts, each from the partition of one run of KMeans. From the same initial
// parameters it agrees with scikit-learn's GaussianMixture.
//
// A start at which a covariance ceases to be positive definite is given up.
// GMM fails if all are, if there are fewer rows than components, if a value
// is not finite and if all rows are equal; it panics unless 1 <= k <= MaxRows.
// It holds n×k responsibilities in memory.
func GMM(x blas32.General, k int, o GMMOptions) (*Result, error) {
	o = o.withDefaults()
	if err := checkRows(x, k); err != nil {
		return nil, err
	}
	if err := o.checkInitial(k, x.Cols); err != nil {
		return nil, err
	}
	rows, sample := sampleRows(x, k, o.MaxRows, newRand(o.Seed, 0))
	maximiser := newMaximiser(rows, k, o)
	r, best := &Result{}, (*expectationMaximisation)(nil)
	var failure error
	for start := range o.Starts {
		run := &expectationMaximisation{maximiser: maximiser}
		if err := run.fit(rows, k, start, o); err != nil {
			r.Failed++
			failure = err
		} else if best == nil || run.logLikelihood > best.logLikelihood {
			best = run
		}
	}
	if best == nil {
		return nil, failure
	}
	r.Components, r.LogLikelihood = best.model, best.logLikelihood
	r.Iterations, r.Converged, r.Ambiguity = best.iterations, best.converged, best.ambiguity
	err := r.finish(x, sample, best.labels, o.Initial != nil)
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

// expectationMaximisation is one start of EM.
type expectationMaximisation struct {
	*maximiser
	model         Components
	labels        []int32
	ambiguity     float64
	logLikelihood float64
	iterations    int
	converged     bool
}

func (em *expectationMaximisation) fit(x blas32.General, k, start int, o GMMOptions) error {
	if o.Initial != nil {
		em.model = *o.Initial
	} else if err := em.initialise(x, k, start, o); err != nil {
		return err
	}
	em.logLikelihood = math.Inf(-1)
	for em.iterations < o.MaxIterations && !em.converged {
		em.iterations++
		logLikelihood, err := em.expect(x)
		if err != nil {
			return err
		}
		em.model = em.maximise(x)
		em.converged = math.Abs(logLikelihood-em.logLikelihood) < o.Tolerance
		em.logLikelihood = logLikelihood
	}
	assigner, err := em.model.Assigner()
	if err != nil {
		return err
	}
	em.labels = make([]int32, x.Rows)
	em.ambiguity = assigner.assignAmbiguous(em.labels, x)
	return nil
}

// initialise maximises with the hard responsibilities of a k-means partition.
func (em *expectationMaximisation) initialise(x blas32.General, k, start int, o GMMOptions) error {
	partition := runLloyd(x, plusPlus(x, k, newRand(o.Seed, start+1)), KMeansOptions{}.withDefaults())
	clear(em.responsibilities.Data)
	for i, l := range partition.labels {
		em.responsibilities.Data[i*k+int(l)] = 1
	}
	em.model = em.maximise(x)
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
