package labelshift

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

const (
	// manyMeans are so many that the exact solution, which takes time with their cube, gives way
	// to coordinate descent, whose sweeps take time with their number.
	manyMeans = 65
	// sweeps bounds those of coordinate descent. A full one follows thinSweeps over the means
	// that have a share.
	sweeps, thinSweeps = 100, 4
	// sweepTolerance ends them when a full sweep changes the shares by less, in L1.
	sweepTolerance = 1e-4
)

// NearestMixture returns the shares, on the simplex, of the rows of means (n×d) whose mixture is
// nearest to b (d). near is a guess of them, or nil. Of fewer than manyMeans they are those of
// SimplexLeastSquares; the mixture of more is nearly as near. It returns ctx.Err() if ctx ends.
func NearestMixture(ctx context.Context, means *mat.Dense, b, near []float64) ([]float64, error) {
	if n, _ := means.Dims(); n < manyMeans {
		return SimplexLeastSquares(mat.DenseCopyOf(means.T()), b, near)
	}
	d := newDescent(means, b, near)
	for i := range sweeps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		full := i%(thinSweeps+1) == 0
		if change := d.sweep(full); full && change < sweepTolerance {
			break
		}
	}
	dense.Normalize(d.p)
	return d.p, nil
}

// descent is coordinate descent on ½|Mᵀ·p − b|² over p ≥ 0, whose sum is held at 1 by the method
// of multipliers (Hestenes 1969): ½·penalty·(1 + excess − Σp)² is added, and after each sweep what
// Σp lacks of 1 to excess.
type descent struct {
	means   blas64.General // n×d, less b
	squares []float64      // of the means' lengths: n
	p       []float64
	left    []float64 // −M·p: d

	sum, excess, penalty float64
}

func newDescent(means *mat.Dense, b, near []float64) *descent {
	n, _ := means.Dims()
	d := &descent{means: dense.New64(n, len(b)), squares: make([]float64, n), p: make([]float64, n), left: make([]float64, len(b)), sum: 1}
	copy(d.p, dense.Uniform(n))
	if near != nil {
		copy(d.p, near)
	}
	for k := range n {
		mean := floats.SubTo(d.mean(k), means.RawRowView(k), b)
		d.squares[k] = floats.Dot(mean, mean)
		d.penalty += d.squares[k] / float64(n)
		floats.AddScaled(d.left, -d.p[k], mean)
	}
	d.penalty = max(d.penalty, math.SmallestNonzeroFloat32)
	return d
}

func (d *descent) mean(k int) []float64 { return d.means.Data[k*d.means.Stride:][:d.means.Cols] }

// sweep goes to the minimum along each coordinate in turn, of all or of those above 0, and
// returns by how much the shares have changed, with what their sum lacks.
func (d *descent) sweep(full bool) float64 {
	change := 0.0
	for k, p := range d.p {
		if p == 0 && !full {
			continue
		}
		mean := d.mean(k)
		slope := kernel.Dot64(mean, d.left) + d.penalty*(1+d.excess-d.sum)
		step := max(-p, slope/(d.squares[k]+d.penalty))
		if step == 0 {
			continue
		}
		d.p[k] += step
		d.sum += step
		kernel.Axpy64(-step, mean, d.left)
		change += math.Abs(step)
	}
	d.excess += 1 - d.sum
	return change + math.Abs(1-d.sum)
}
