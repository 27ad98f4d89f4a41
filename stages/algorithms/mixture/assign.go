package mixture

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// Assigner assigns new rows to fitted components, a batch at a time: to the
// component of greatest responsibility if they are Gaussian and to the nearest
// mean otherwise, the lower component at a tie. It keeps no rows, so any
// number of them takes the same memory. It is safe for concurrent use.
type Assigner struct {
	scorer scorer
	k, d   int
}

// scorer gives rows a score for each component, the greatest being the best.
type scorer interface {
	// score writes the scores of rows [lo, hi) of x to the rows of dst.
	score(dst blas64.General, x blas32.General, lo, hi int)
}

// Assigner returns the assigner of c. It fails if c is not a consistent state
// or a covariance is not positive definite.
func (c *Components) Assigner() (*Assigner, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	a := &Assigner{k: c.K(), d: c.Dim()}
	if c.Covariances == nil {
		a.scorer = newCentroids(c.Means)
		return a, nil
	}
	gaussians, err := newGaussians(c)
	a.scorer = gaussians
	return a, err
}

// Assign writes the component of each row of x to labels. It panics if the
// rows are not d wide or labels is not one a row.
func (a *Assigner) Assign(labels []int32, x blas32.General) {
	if len(labels) != x.Rows {
		panic("mixture: Assign: one label a row is needed")
	}
	a.eachScore(x, func(i int, scores []float64) { labels[i] = int32(argmax(scores)) })
}

// Responsibilities writes the posterior probabilities of the components given
// each row of x to dst, which is n×K. It panics if the components are not
// Gaussian or the shapes do not fit.
func (a *Assigner) Responsibilities(dst *mat.Dense, x blas32.General) {
	if _, ok := a.scorer.(*gaussians); !ok {
		panic("mixture: Responsibilities: the components are not Gaussian")
	}
	if n, k := dst.Dims(); n != x.Rows || k != a.k {
		panic("mixture: Responsibilities: dst is not n×K")
	}
	a.eachScore(x, func(i int, scores []float64) {
		normalize(scores)
		dst.SetRow(i, scores)
	})
}

// eachScore calls f, on several goroutines, with each row's scores.
func (a *Assigner) eachScore(x blas32.General, f func(i int, scores []float64)) {
	if x.Cols != a.d {
		panic("mixture: rows and components differ in width")
	}
	eachBlock(x.Rows, func(_, lo, hi int) {
		scores := newMatrix(hi-lo, a.k)
		a.scorer.score(scores, x, lo, hi)
		for i := lo; i < hi; i++ {
			f(i, scores.Data[(i-lo)*a.k:][:a.k])
		}
	})
}

// check refuses a state whose parts do not fit together.
func (c *Components) check() error {
	k, d := c.Means.Dims()
	for _, v := range c.Means.RawMatrix().Data {
		if v-v != 0 {
			return fmt.Errorf("mixture: components: a mean is %v: fit again", v)
		}
	}
	if c.Covariances == nil {
		return nil
	}
	if len(c.Covariances) != k || len(c.Weights) != k {
		return fmt.Errorf("mixture: components: %d means, %d weights and %d covariances: give one of each a component", k, len(c.Weights), len(c.Covariances))
	}
	for i, v := range c.Covariances {
		if len(v) != d*d && len(v) != d && len(v) != 1 {
			return fmt.Errorf("mixture: components: covariance %d has %d values: give 1, %d or %d", i, len(v), d, d*d)
		}
		if !(c.Weights[i] >= 0 && c.Weights[i] <= 1+1e-9) {
			return fmt.Errorf("mixture: components: weight %d is %v: give a number from 0 to 1", i, c.Weights[i])
		}
	}
	return nil
}
