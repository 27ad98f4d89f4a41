package mte

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
	"mars.dev/mars/stages/algorithms/scale"
)

const (
	// clipping is how many standard deviations from the source's mean values
	// are cut off at.
	clipping = 8
	// maxAxes is how many principal components of the source are kept.
	maxAxes = 50
	// minDeviation is the least mean deviation of rows that are not all equal.
	minDeviation = 1e-9
	// mapRows is how many rows are mapped at a time.
	mapRows = 256
)

// space is an affine map of rows of d values: standardised by the source and
// clipped, then moved and multiplied by axes,
//
//	x ↦ (clip((x − mean)·scale) − origin)·axes
type space struct {
	mean, scale []float64  // d
	clip        float64    // values are cut off at
	axes        *mat.Dense // d×q; nil for none
	shift       []float64  // q: −origin·axes
}

// standardised returns the space of the standardised columns of x.
func standardised(ctx context.Context, x blas32.General) (*space, error) {
	s, _, err := scale.Fit(ctx, x)
	return &space{mean: s.Mean, scale: s.Scales(), clip: clipping}, err
}

// unscaled returns the space of d columns as they are.
func unscaled(d int) *space {
	return &space{mean: make([]float64, d), scale: slices.Repeat([]float64{1}, d), clip: math.Inf(1)}
}

// with returns the space that multiplies by axes after moving by −origin,
// which may be nil.
func (s *space) with(axes *mat.Dense, origin []float64) *space {
	_, q := axes.Dims()
	t := &space{mean: s.mean, scale: s.scale, clip: s.clip, axes: axes, shift: make([]float64, q)}
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

// standardise writes the standardised rows of x to dst.
func (s *space) standardise(dst blas64.General, x blas32.General) {
	for i := range x.Rows {
		out := dst.Data[i*dst.Stride:][:x.Cols]
		for j, v := range dense.Row(x, i) {
			out[j] = max(-s.clip, min(s.clip, (float64(v)-s.mean[j])*s.scale[j]))
		}
	}
}

// apply returns the rows of x mapped, n×q.
func (s *space) apply(x blas32.General) blas32.General {
	dst := dense.New(x.Rows, s.dim())
	blocks := (x.Rows + mapRows - 1) / mapRows
	kernel.Parallel(blocks, 1, func(first, last int) {
		standard, mapped := dense.New64(mapRows, x.Cols), dense.New64(mapRows, dst.Cols)
		for b := first; b < last; b++ {
			lo, hi := b*mapRows, min((b+1)*mapRows, x.Rows)
			s.block(dense.Rows(dst, lo, hi), dense.Rows(x, lo, hi), standard, mapped)
		}
	})
	return dst
}

// block maps a few rows, with memory for them in float64.
func (s *space) block(dst, x blas32.General, standard, mapped blas64.General) {
	standard.Rows, mapped.Rows = x.Rows, x.Rows
	s.standardise(standard, x)
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

// spaces learns two spaces from the source: the wide one of standardised
// columns or, if there are more than maxAxes, their principal components; and
// the narrow one of linear discriminants in it, at most C−1 axes that tell the
// classes apart.
func spaces(ctx context.Context, source blas32.General, labels []int32, classes int, prepared bool) (wide, narrow *space, err error) {
	if prepared {
		wide = unscaled(source.Cols)
	} else if wide, err = standardised(ctx, source); err != nil {
		return nil, nil, err
	}
	all, err := newMoments(ctx, wide, source, labels, classes)
	if err != nil {
		return nil, nil, err
	}
	if all.trace() < minDeviation {
		return nil, nil, errors.New("mte: all source rows are equal: give features that tell the classes apart")
	}
	m := all
	if source.Cols > maxAxes {
		axes, err := all.principal(ctx, maxAxes)
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
