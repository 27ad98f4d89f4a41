package mixture

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// Assigner assigns new rows to fitted components, batch by batch: to the
// component of greatest responsibility if they are Gaussian, otherwise to the
// nearest mean, and to the lower component at a tie. It keeps no rows, so its
// memory does not grow. It is safe for concurrent use.
type Assigner struct {
	scorer scorer
	k, d   int
}

// scorer gives each row a score for each component. Greater is better.
type scorer interface {
	// score writes the scores of the rows of x to those of dst, on several
	// goroutines. It returns ctx.Err() if ctx ends.
	score(ctx context.Context, dst blas64.General, x blas32.General) error
}

// Assigner returns the assigner of c. It fails if the parts of c do not fit
// together or a covariance is not positive definite, and returns ctx.Err() if
// ctx ends.
func (c *Components) Assigner(ctx context.Context) (*Assigner, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	a := &Assigner{k: c.K(), d: c.Dim()}
	if c.Covariances == nil {
		a.scorer = newCentroids(c.Means)
		return a, nil
	}
	gaussians, err := newGaussians(ctx, c)
	a.scorer = gaussians
	return a, err
}

// Assign writes the component of each row of x (n×d) to labels (n). It returns
// ctx.Err() if ctx ends, and panics if the shapes do not fit.
func (a *Assigner) Assign(ctx context.Context, labels []int32, x blas32.General) error {
	if len(labels) != x.Rows {
		panic("mixture: Assign: one label a row is needed")
	}
	return a.eachScore(ctx, x, func(i int, scores []float64) { labels[i] = int32(dense.Argmax(scores)) })
}

// Responsibilities writes to dst (n×K) the posterior probabilities of the
// components given each row of x (n×d); with full covariances in 256 or more
// dimensions, those below 1e-26 may be 0. It returns ctx.Err() if ctx ends, and panics
// if the components are not Gaussian or the shapes do not fit.
func (a *Assigner) Responsibilities(ctx context.Context, dst *mat.Dense, x blas32.General) error {
	if _, ok := a.scorer.(*gaussians); !ok {
		panic("mixture: Responsibilities: the components are not Gaussian")
	}
	if n, k := dst.Dims(); n != x.Rows || k != a.k {
		panic("mixture: Responsibilities: dst is not n×K")
	}
	return a.eachScore(ctx, x, func(i int, scores []float64) {
		normalize(scores)
		dst.SetRow(i, scores)
	})
}

// eachScore calls f with each row's scores, on several goroutines at once. It holds
// scoredValues of them, or those of a block a goroutine.
func (a *Assigner) eachScore(ctx context.Context, x blas32.General, f func(i int, scores []float64)) error {
	if x.Cols != a.d {
		panic("mixture: rows and components differ in width")
	}
	most := max(scoredValues/a.k, kernel.Jobs()*blockRows)
	scores := dense.New64(min(x.Rows, most), a.k)
	for from := 0; from < x.Rows; from += most {
		part := dense.Rows(x, from, min(from+most, x.Rows))
		if err := a.scorer.score(ctx, view(scores, 0, part.Rows, 0, a.k), part); err != nil {
			return err
		}
		err := eachBlock(ctx, part.Rows, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				f(from+i, scores.Data[i*a.k:][:a.k])
			}
		})
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// scoredValues is how many scores are made at a time: few enough to hold beside the
// rows, of many components too.
const scoredValues = 1 << 20

// check returns an error if the parts of c do not fit together.
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
