// Package affine maps rows by what was learnt of the source: they are standardised, cut off, and
// brought to axes such as principal components.
package affine

import (
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// Map takes a row of d values to one of q,
//
//	x ↦ clip((x − Mean)·Scale)·Axes + Shift
type Map struct {
	Mean, Scale []float64  // d
	Clip        float64    // values are cut off at
	Axes        *mat.Dense // d×q; nil for none
	Shift       []float64  // q; nil for none
}

// blockRows is how many rows are mapped at a time.
const blockRows = 256

// Width is q.
func (m *Map) Width() int {
	if m.Axes == nil {
		return len(m.Mean)
	}
	_, q := m.Axes.Dims()
	return q
}

// Standardise writes the standardised rows of x (n×d), cut off, to dst.
func (m *Map) Standardise(dst blas64.General, x blas32.General) {
	for i := range x.Rows {
		out := dst.Data[i*dst.Stride:][:x.Cols]
		for j, v := range dense.Row(x, i) {
			out[j] = max(-m.Clip, min(m.Clip, (float64(v)-m.Mean[j])*m.Scale[j]))
		}
	}
}

// Apply returns the rows of x mapped, n×q. pick makes rows of d values of some of them; nil: they
// are that.
func (m *Map) Apply(x blas32.General, pick func(blas32.General) blas32.General) blas32.General {
	dst := dense.New(x.Rows, m.Width())
	kernel.Parallel((x.Rows+blockRows-1)/blockRows, 1, func(first, last int) {
		size := min(blockRows, x.Rows) // 256 rows of a million columns have 2 GB
		standard, mapped := dense.New64(size, len(m.Mean)), blas64.General{}
		if m.Axes != nil {
			mapped = dense.New64(size, dst.Cols)
		}
		for b := first; b < last; b++ {
			lo, hi := b*blockRows, min((b+1)*blockRows, x.Rows)
			rows := dense.Rows(x, lo, hi)
			if pick != nil {
				rows = pick(rows)
			}
			m.block(dense.Rows(dst, lo, hi), rows, standard, mapped)
		}
	})
	return dst
}

// block maps a few rows, with memory for them in float64.
func (m *Map) block(dst, x blas32.General, standard, mapped blas64.General) {
	standard.Rows, mapped.Rows = x.Rows, x.Rows
	m.Standardise(standard, x)
	if m.Axes == nil {
		mapped = standard
	} else {
		kernel.Gemm64(false, false, 1, standard, m.Axes.RawMatrix(), 0, mapped)
	}
	for i := range dst.Rows {
		for j, v := range mapped.Data[i*mapped.Stride:][:dst.Cols] {
			if m.Shift != nil {
				v += m.Shift[j]
			}
			dst.Data[i*dst.Stride+j] = float32(v)
		}
	}
}

// Shift is −origin·axes: what a map adds after axes around an origin.
func Shift(axes *mat.Dense, origin []float64) []float64 {
	var shift mat.VecDense
	shift.MulVec(axes.T(), mat.NewVecDense(len(origin), origin))
	shift.ScaleVec(-1, &shift)
	return shift.RawVector().Data
}
