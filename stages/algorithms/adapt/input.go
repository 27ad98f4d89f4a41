package adapt

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"mars/stages/algorithms/scale"
)

// input scales a row of features before it enters g: (x − offset)·scale, with one pair
// for all columns, one pair for each column, or none.
type input struct {
	offset, scale []float32
}

// newInput returns the scaling for the source, n×d.
func newInput(ctx context.Context, s InputScaling, source blas32.General) (input, error) {
	switch s {
	case InputSymmetric:
		return input{offset: []float32{0.5}, scale: []float32{2}}, nil
	case InputStandard:
		return standardise(ctx, source)
	}
	return input{}, nil
}

// standardise scales each column to mean 0 and standard deviation 1, and a constant
// column to 0.
func standardise(ctx context.Context, x blas32.General) (input, error) {
	s, _, err := scale.Fit(ctx, x)
	in := input{offset: make([]float32, x.Cols), scale: make([]float32, x.Cols)}
	for j, by := range s.Scales() {
		in.offset[j], in.scale[j] = float32(s.Mean[j]), float32(by)
	}
	return in, err
}

// gather writes the given rows of x, scaled, to dst, len(rows)×d.
func (in input) gather(dst []float32, x blas32.General, rows []int32) {
	for i, row := range rows {
		in.apply(dst[i*x.Cols:(i+1)*x.Cols], x.Data[int(row)*x.Stride:])
	}
}

// apply writes one row, scaled, to dst.
func (in input) apply(dst, row []float32) {
	row = row[:len(dst)]
	switch len(in.scale) {
	case 0:
		copy(dst, row)
	case 1:
		offset, scale := in.offset[0], in.scale[0]
		for j, v := range row {
			dst[j] = (v - offset) * scale
		}
	default:
		for j, v := range row {
			dst[j] = (v - in.offset[j]) * in.scale[j]
		}
	}
}
