package mte

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

const (
	// blockRows is how many rows go through a step of EM at a time: few enough
	// for their responsibilities to stay in the cache.
	blockRows = 128
	// maxChunks is the number of parts that the rows are divided into. Each has
	// sums of its own, which are added in order. It does not depend on the
	// number of threads, so neither do the results.
	maxChunks = 16
)

// density is the likelihood of a class: Student's t with freedom degrees of
// freedom, or a Gaussian if freedom is 0.
type density struct{ freedom float64 }

// eStep is the E-step of several runs at a time over the same rows.
type eStep struct {
	x       blas32.General // n×q
	density density
	sums    int // how many monomials are summed up
	chunks  []*chunk
}

// newEStep prepares the E-step of at most runs runs with that number of classes.
// covariances says whether they need the sums of all monomials.
func newEStep(x blas32.General, d density, runs, classes int, covariances bool) *eStep {
	q := monomials(x.Cols)
	e := &eStep{x: x, density: d, sums: q.axial()}
	if covariances {
		e.sums = q.all()
	}
	blocks := (x.Rows + blockRows - 1) / blockRows
	n := min(blocks, maxChunks)
	for c := range n {
		e.chunks = append(e.chunks, &chunk{
			lo: c * blocks / n * blockRows, hi: min((c+1)*blocks/n*blockRows, x.Rows),
			dim: x.Cols, monomials: dense.New64(blockRows, q.all()), scores: dense.New64(blockRows, runs*classes),
			distances: dense.New64(blockRows, runs*classes),
			sums:      mat.NewDense(runs*classes, e.sums, nil), mass: make([]float64, runs*classes),
		})
	}
	return e
}

// chunk is a part of the rows, and memory for a block of it. There is a column
// for each class of each run.
type chunk struct {
	lo, hi            int
	dim               int            // q
	monomials         blas64.General // block×all
	scores, distances blas64.General // block×columns
	sums              *mat.Dense     // columns×sums
	mass              []float64      // columns
}

// expect computes the responsibilities of all runs over all rows and leaves
// their sums in the runs.
func (e *eStep) expect(ctx context.Context, runs []*em) error {
	theta, constants := e.coefficients(runs)
	classes, factor := len(runs[0].proportions), e.density.factor(e.x.Cols)
	kernel.Parallel(len(e.chunks), 1, func(first, last int) {
		for _, c := range e.chunks[first:last] {
			c.sums.Zero()
			clear(c.mass)
			c.each(ctx, e.x, func(lo, hi int) {
				c.respond(e.density, theta, constants, classes)
				c.weigh(runs, lo, factor)
				block := c.monomials
				block.Cols = e.sums
				kernel.Gemm64(true, false, 1, c.distances, block, 1, c.columns(len(constants)))
			})
		}
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	for r, run := range runs {
		run.collect(e.chunks, r)
	}
	return nil
}

// responsibilities writes those of one run to dst, n×C.
func (e *eStep) responsibilities(ctx context.Context, dst blas32.General, r *em) error {
	theta, constants := e.coefficients([]*em{r})
	kernel.Parallel(len(e.chunks), 1, func(first, last int) {
		for _, c := range e.chunks[first:last] {
			c.each(ctx, e.x, func(lo, hi int) {
				c.respond(e.density, theta, constants, len(constants))
				for i := range hi - lo {
					for k, v := range c.scores.Data[i*c.scores.Stride:][:dst.Cols] {
						dst.Data[(lo+i)*dst.Stride+k] = float32(v)
					}
				}
			})
		}
	})
	return ctx.Err()
}

// coefficients returns what turns monomials into scores: the all×columns
// coefficients of squared distances, and a constant a column.
func (e *eStep) coefficients(runs []*em) (theta *mat.Dense, constants []float64) {
	q, classes := monomials(e.x.Cols), len(runs[0].proportions)
	theta = mat.NewDense(q.all(), len(runs)*classes, nil)
	constants = make([]float64, len(runs)*classes)
	kernel.Parallel(len(runs), 1, func(first, last int) {
		for r := first; r < last; r++ {
			for k, p := range runs[r].proportions {
				precision, logRoot := runs[r].precision(k)
				q.distance(theta, r*classes+k, runs[r].means.RawRowView(k), precision)
				constants[r*classes+k] = math.Log(p) - logRoot
			}
		}
	})
	if e.density.freedom > 0 {
		theta.Scale(1/e.density.freedom, theta)
	}
	return theta, constants
}

// columns returns the sums of the first n columns.
func (c *chunk) columns(n int) blas64.General {
	m := c.sums.RawMatrix()
	m.Rows = n
	return m
}

// each calls f for each block of the chunk, with its monomials filled in, until
// the end of ctx.
func (c *chunk) each(ctx context.Context, x blas32.General, f func(lo, hi int)) {
	q := monomials(x.Cols)
	for lo := c.lo; lo < c.hi && ctx.Err() == nil; lo += blockRows {
		hi := min(lo+blockRows, c.hi)
		for i := lo; i < hi; i++ {
			q.fill(c.monomials.Data[(i-lo)*c.monomials.Stride:], dense.Row(x, i))
		}
		c.monomials.Rows, c.scores.Rows, c.distances.Rows = hi-lo, hi-lo, hi-lo
		f(lo, hi)
	}
}

// respond sets scores to the responsibilities R of the rows of the block, and
// distances to what R is divided by for the weight of a row in the mean of a
// class: 1 + δ²/ν for Student's t, 1 for a Gaussian.
func (c *chunk) respond(d density, theta *mat.Dense, constants []float64, classes int) {
	columns := len(constants)
	c.scores.Cols, c.scores.Stride = columns, columns
	c.distances.Cols, c.distances.Stride = columns, columns
	kernel.Gemm64(false, false, 1, c.monomials, theta.RawMatrix(), 0, c.distances)
	n := c.scores.Rows * columns
	scores, distances := c.scores.Data[:n], c.distances.Data[:n]
	d.logarithms(scores, distances)
	slope := d.slope(c.dim)
	for row := 0; row < n; row += columns {
		s := scores[row : row+columns]
		for j, constant := range constants {
			s[j] = slope*s[j] + constant
		}
	}
	kernel.Softmax64(scores, classes)
}

// logarithms sets scores so that the logarithm of the density is linear in them,
// and distances as respond says, from the squared distances δ² (for Student's t,
// δ²/ν). A distance below zero is rounding.
func (d density) logarithms(scores, distances []float64) {
	if d.freedom == 0 {
		for i, v := range distances {
			scores[i], distances[i] = max(v, 0), 1
		}
		return
	}
	for i, v := range distances {
		if v < 0 {
			v = 0
		}
		distances[i] = 1 + v
	}
	kernel.Log64(scores, distances)
}

// slope is what scores are multiplied by for the logarithm of the density.
func (d density) slope(dim int) float64 {
	if d.freedom == 0 {
		return -0.5
	}
	return -0.5 * (d.freedom + float64(dim))
}

// factor is what the weight R/(1 + δ²/ν) of a row is multiplied by.
func (d density) factor(dim int) float64 {
	if d.freedom == 0 {
		return 1
	}
	return (d.freedom + float64(dim)) / d.freedom
}

// weigh turns distances into the weights of the rows of the block, whose first
// is row lo, and adds the responsibilities to mass.
func (c *chunk) weigh(runs []*em, lo int, factor float64) {
	classes := c.scores.Cols / len(runs)
	for i := range c.scores.Rows {
		for r, run := range runs {
			w := run.weight(lo + i)
			at := i*c.scores.Cols + r*classes
			scores, distances := c.scores.Data[at:at+classes], c.distances.Data[at:at+classes]
			mass := c.mass[r*classes:][:classes]
			for k, v := range scores {
				v *= w
				mass[k] += v
				distances[k] = factor * v / distances[k]
			}
		}
	}
}
