package mixture

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// panel is how many columns of a triangular matrix are multiplied at a time.
// The zeros below a panel are skipped, which saves almost half of the work.
const panel = 32

// gaussians scores rows by the logarithm of weight times density of K Gaussian
// components.
type gaussians struct {
	components []gaussian
}

// gaussian is one component, prepared for evaluation.
type gaussian struct {
	mean []float64
	// constant is the logarithm of weight times density at the mean.
	constant float64
	// whiten is upper triangular (d×d) and scale has d values; only one of them
	// is set. The deviation from the mean, times whiten or scale, has unit
	// covariance.
	whiten blas64.General
	scale  []float64
}

// newGaussians prepares components, whose shapes have been checked. It fails
// if a covariance is not positive definite, and returns ctx.Err() if ctx ends.
func newGaussians(ctx context.Context, c *Components) (*gaussians, error) {
	g := &gaussians{components: make([]gaussian, c.K())}
	tied := func(k int) bool { return k > 0 && &c.Covariances[k][0] == &c.Covariances[k-1][0] }
	failures := make([]error, c.K())
	kernel.Parallel(c.K(), 1, func(lo, hi int) {
		for k := lo; k < hi && ctx.Err() == nil; k++ {
			g.components[k].mean = c.Means.RawRowView(k)
			if !tied(k) {
				failures[k] = g.components[k].invert(c.Covariances[k])
			}
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for k := range g.components {
		component := &g.components[k]
		if failures[k] != nil {
			return nil, fmt.Errorf("mixture: component %d: %w", k, failures[k])
		}
		if tied(k) {
			component.whiten, component.scale = g.components[k-1].whiten, g.components[k-1].scale
		}
		component.constant = math.Log(c.Weights[k]) - 0.5*float64(c.Dim())*log2Pi + component.logVolume(0, c.Dim())
	}
	return g, nil
}

// invert sets whiten or scale from a covariance in any of its forms.
func (g *gaussian) invert(covariance []float64) error {
	d := len(g.mean)
	if len(covariance) == d*d && d > 1 {
		return g.invertFull(covariance)
	}
	g.scale = make([]float64, d)
	for j := range g.scale {
		v := covariance[min(j, len(covariance)-1)]
		if !(v > 0) || math.IsInf(v, 1) {
			return errNotPositive
		}
		g.scale[j] = 1 / math.Sqrt(v)
	}
	return nil
}

// invertFull sets whiten to L⁻ᵀ, where L·Lᵀ is the covariance.
func (g *gaussian) invertFull(covariance []float64) error {
	d := len(g.mean)
	upper, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Upper, N: d, Stride: d, Data: slices.Clone(covariance)})
	if !ok {
		return errNotPositive
	}
	g.whiten = dense.New64(d, d)
	invertUpper(g.whiten, blas64.General{Rows: d, Cols: d, Stride: d, Data: upper.Data})
	return nil
}

// invertUpper writes the inverse of an upper triangular matrix to the upper
// triangle of dst, a panel of columns at a time. C is the panel's diagonal
// block, B the rows above it and A the panels before:
// [A B; 0 C]⁻¹ = [A⁻¹ −A⁻¹BC⁻¹; 0 C⁻¹].
func invertUpper(dst, upper blas64.General) {
	d := upper.Rows
	product := dense.New64(d, panel)
	for lo := 0; lo < d; lo += panel {
		hi := min(lo+panel, d)
		corner := view(dst, lo, hi, lo, hi)
		for i := lo; i < hi; i++ {
			copy(dst.Data[i*d+i:][:hi-i], upper.Data[i*d+i:])
		}
		lapack64.Trtri(blas64.Triangular{Uplo: blas.Upper, Diag: blas.NonUnit, N: hi - lo, Stride: d, Data: corner.Data})
		above := view(product, 0, lo, 0, hi-lo)
		kernel.Gemm64(false, false, -1, view(upper, 0, lo, lo, hi), corner, 0, above)
		for at := 0; at < lo; at += panel {
			end := at + panel
			kernel.Gemm64(false, false, 1, view(dst, at, end, at, lo), view(above, at, lo, 0, hi-lo), 0, view(dst, at, end, lo, hi))
		}
	}
}

// logVolume returns the part of columns [from, to) in the logarithm of the determinant
// of whiten or scale.
func (g *gaussian) logVolume(from, to int) float64 {
	sum := 0.0
	for j := from; j < to; j++ {
		if g.scale != nil {
			sum += math.Log(g.scale[j])
		} else {
			sum += math.Log(g.whiten.Data[j*g.whiten.Stride+j])
		}
	}
	return sum
}

// score writes log(weight·density) of each row, or −Inf where its responsibility is
// negligible.
func (g *gaussians) score(ctx context.Context, dst blas64.General, x blas32.General) error {
	if x.Cols >= wide && g.components[0].scale == nil {
		return g.scoreBounded(ctx, dst, x)
	}
	return eachBlock(ctx, x.Rows, func(_, lo, hi int) { g.scoreAll(ctx, view(dst, lo, hi, 0, dst.Cols), x, lo, hi) })
}

// scoreAll writes log(weight·density) of rows [lo, hi) of x. If ctx ends it may stop
// before all are written.
func (g *gaussians) scoreAll(ctx context.Context, dst blas64.General, x blas32.General, lo, hi int) {
	deviation, giveDeviation := dense.Borrow64(hi-lo, x.Cols)
	defer giveDeviation()
	white, giveWhite := dense.Borrow64(hi-lo, x.Cols)
	defer giveWhite()
	for k := range g.components {
		if ctx.Err() != nil {
			return
		}
		component := &g.components[k]
		centre(deviation, x, lo, hi, component.mean)
		component.multiply(white, deviation, 0, x.Cols)
		for i := range white.Rows {
			dst.Data[i*dst.Stride+k] = component.constant - 0.5*square(white.Data[i*white.Stride:][:white.Cols])
		}
	}
}

// multiply sets columns [from, to) of dst to those of deviation times whiten or scale.
// from is a multiple of panel.
func (g *gaussian) multiply(dst, deviation blas64.General, from, to int) {
	n, d := deviation.Rows, deviation.Cols
	if g.scale != nil {
		for i := range n {
			in, out := deviation.Data[i*d:][:d], dst.Data[i*d:][:d]
			for j := from; j < to; j++ {
				out[j] = g.scale[j] * in[j]
			}
		}
		return
	}
	for lo := from; lo < to; lo += panel {
		hi := min(lo+panel, to)
		kernel.Gemm64(false, false, 1, view(deviation, 0, n, 0, hi), view(g.whiten, 0, hi, lo, hi), 0, view(dst, 0, n, lo, hi))
	}
}

// normalize turns log scores into probabilities that sum to 1 and returns the
// logarithm of the sum of their exponentials.
func normalize(scores []float64) float64 {
	top := scores[dense.Argmax(scores)]
	sum := 0.0
	for k, s := range scores {
		scores[k] = math.Exp(s - top)
		sum += scores[k]
	}
	for k := range scores {
		scores[k] /= sum
	}
	return top + math.Log(sum)
}
