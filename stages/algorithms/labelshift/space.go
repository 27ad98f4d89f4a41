package labelshift

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"mars/stages/algorithms/internal/kernel"
)

const (
	// clipping is how many standard deviations from the source's mean values
	// are cut off at.
	clipping = 8
	// mostAxes is how many principal components of the source are kept.
	mostAxes = 50
	// leastDeviation is added to standard deviations, so that a constant
	// column is all zeros.
	leastDeviation = 1e-9
	// spaceRows is how many rows are mapped at a time.
	spaceRows = 256
)

// space is an affine map of rows of d values: standardised by the source and
// clipped, then moved and multiplied by axes,
//
//	x ↦ (clip((x − mean)/deviation) − origin)·axes
type space struct {
	mean, inverse []float64  // d; inverse of the standard deviations
	axes          *mat.Dense // d×q
	shift         []float64  // q: −origin·axes
}

// standardise returns the space of the standardised columns of x.
func standardise(x blas32.General) *space {
	d, n := x.Cols, float64(x.Rows)
	s := &space{mean: make([]float64, d), inverse: make([]float64, d)}
	for i := range x.Rows {
		for j, v := range row(x, i) {
			s.mean[j] += float64(v) / n
		}
	}
	for i := range x.Rows {
		for j, v := range row(x, i) {
			e := float64(v) - s.mean[j]
			s.inverse[j] += e * e / n
		}
	}
	for j, v := range s.inverse {
		s.inverse[j] = 1 / (math.Sqrt(v) + leastDeviation)
	}
	return s
}

// with returns the space that multiplies by axes after moving by −origin,
// which may be nil.
func (s *space) with(axes *mat.Dense, origin []float64) *space {
	_, q := axes.Dims()
	t := &space{mean: s.mean, inverse: s.inverse, axes: axes, shift: make([]float64, q)}
	if origin != nil {
		mat.NewVecDense(q, t.shift).MulVec(axes.T(), mat.NewVecDense(len(origin), origin))
		for j := range t.shift {
			t.shift[j] = -t.shift[j]
		}
	}
	return t
}

// dim returns q.
func (s *space) dim() int {
	if s.axes == nil {
		return len(s.mean)
	}
	return len(s.shift)
}

// standard writes the standardised rows of x to dst.
func (s *space) standard(dst blas64.General, x blas32.General) {
	for i := range x.Rows {
		out := dst.Data[i*dst.Stride:][:x.Cols]
		for j, v := range row(x, i) {
			out[j] = max(-clipping, min(clipping, (float64(v)-s.mean[j])*s.inverse[j]))
		}
	}
}

// apply returns the rows of x mapped, n×q.
func (s *space) apply(x blas32.General) blas32.General {
	dst := newRows(x.Rows, s.dim())
	blocks := (x.Rows + spaceRows - 1) / spaceRows
	kernel.Parallel(blocks, 1, func(first, last int) {
		standard, mapped := newMatrix(spaceRows, x.Cols), newMatrix(spaceRows, dst.Cols)
		for b := first; b < last; b++ {
			lo, hi := b*spaceRows, min((b+1)*spaceRows, x.Rows)
			s.block(part(dst, lo, hi), part(x, lo, hi), standard, mapped)
		}
	})
	return dst
}

// block maps a few rows, with memory for them in float64.
func (s *space) block(dst, x blas32.General, standard, mapped blas64.General) {
	standard.Rows, mapped.Rows = x.Rows, x.Rows
	s.standard(standard, x)
	if s.axes == nil {
		mapped = standard
	} else {
		kernel.Gemm64(false, false, 1, standard, s.axes.RawMatrix(), 0, mapped)
	}
	for i := range dst.Rows {
		in := mapped.Data[i*mapped.Stride:][:dst.Cols]
		for j, v := range in {
			if s.shift != nil {
				v += s.shift[j]
			}
			dst.Data[i*dst.Stride+j] = float32(v)
		}
	}
}

// newMatrix returns a rows×cols matrix of zeros.
func newMatrix(rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float64, rows*cols)}
}

// spaces learns two spaces from the source: the wide one of standardised
// columns or, if there are more than mostAxes, their principal components; and
// the narrow one of linear discriminants in it, at most C−1 axes that tell the
// classes apart.
func spaces(source blas32.General, labels []int32, classes int) (wide, narrow *space, err error) {
	wide = standardise(source)
	all := newMoments(wide, source, labels, classes)
	if all.trace() < leastDeviation {
		return nil, nil, errors.New("labelshift: all source rows are equal: give features that tell the classes apart")
	}
	m := all
	if source.Cols > mostAxes {
		axes, err := all.principal(mostAxes)
		if err != nil {
			return nil, nil, err
		}
		wide, m = wide.with(axes, nil), all.project(axes)
	}
	axes, err := m.discriminants()
	if err != nil {
		return nil, nil, err
	}
	if wide.axes != nil {
		var product mat.Dense
		product.Mul(wide.axes, axes)
		axes = &product
	}
	return wide, wide.with(axes, all.mean), nil
}
