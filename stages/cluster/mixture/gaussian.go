package mixture

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"mars/stages/internal/kernel"
)

// panel is how many columns of a triangular matrix are multiplied at a time.
// The zeros below a panel are left out, almost half of the work.
const panel = 32

// gaussians scores rows by the logarithm of weight times density of K Gaussian
// components.
type gaussians struct {
	components []gaussian
}

// gaussian is one component, ready for evaluation.
type gaussian struct {
	mean []float64
	// constant is the logarithm of weight times density at the mean.
	constant float64
	// whiten is upper triangular, d×d, and scale has d values; one of the two
	// is there. The deviation from the mean times either has unit covariance.
	whiten blas64.General
	scale  []float64
}

// newGaussians prepares components, whose shapes have been checked. It fails
// at a covariance that is not positive definite.
func newGaussians(c *Components) (*gaussians, error) {
	g := &gaussians{components: make([]gaussian, c.K())}
	for k := range g.components {
		component := &g.components[k]
		component.mean = c.Means.RawRowView(k)
		if k > 0 && &c.Covariances[k][0] == &c.Covariances[k-1][0] { // tied
			component.whiten, component.scale = g.components[k-1].whiten, g.components[k-1].scale
		} else if err := component.invert(c.Covariances[k]); err != nil {
			return nil, fmt.Errorf("mixture: component %d: %w", k, err)
		}
		component.constant = math.Log(c.Weights[k]) - 0.5*float64(c.Dim())*log2Pi + component.logVolume()
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
	var cholesky mat.Cholesky
	if !cholesky.Factorize(mat.NewSymDense(d, covariance)) {
		return errNotPositive
	}
	var upper, inverse mat.TriDense
	cholesky.UTo(&upper)
	if err := inverse.InverseTri(&upper); err != nil {
		if _, illConditioned := err.(mat.Condition); !illConditioned {
			return errNotPositive
		}
	}
	g.whiten = newMatrix(d, d)
	for i := range d {
		for j := i; j < d; j++ {
			g.whiten.Data[i*d+j] = inverse.At(i, j)
		}
	}
	return nil
}

// logVolume returns the logarithm of the determinant of whiten or scale.
func (g *gaussian) logVolume() float64 {
	sum := 0.0
	for j := range g.mean {
		if g.scale != nil {
			sum += math.Log(g.scale[j])
		} else {
			sum += math.Log(g.whiten.Data[j*g.whiten.Stride+j])
		}
	}
	return sum
}

// score writes log(weight·density) of each row.
func (g *gaussians) score(dst blas64.General, x blas32.General, lo, hi int) {
	deviation, giveDeviation := borrow(hi-lo, x.Cols)
	defer giveDeviation()
	white, giveWhite := borrow(hi-lo, x.Cols)
	defer giveWhite()
	for k := range g.components {
		component := &g.components[k]
		centre(deviation, x, lo, hi, component.mean)
		component.multiply(white, deviation)
		for i := range white.Rows {
			dst.Data[i*dst.Stride+k] = component.constant - 0.5*square(white.Data[i*white.Stride:][:white.Cols])
		}
	}
}

// multiply sets dst to deviation times whiten or scale.
func (g *gaussian) multiply(dst, deviation blas64.General) {
	n, d := deviation.Rows, deviation.Cols
	if g.scale != nil {
		for i := range n {
			in := deviation.Data[i*d:][:d]
			for j, s := range g.scale {
				dst.Data[i*d+j] = s * in[j]
			}
		}
		return
	}
	for lo := 0; lo < d; lo += panel {
		hi := min(lo+panel, d)
		kernel.Gemm64(false, false, 1, view(deviation, 0, n, 0, hi), view(g.whiten, 0, hi, lo, hi), 0, view(dst, 0, n, lo, hi))
	}
}

// normalize turns log scores into probabilities that sum to 1 and returns the
// logarithm of the sum of their exponentials.
func normalize(scores []float64) float64 {
	top := scores[argmax(scores)]
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
