package adapt

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/kernel"
	"mars.dev/mars/stages/algorithms/scale"
)

// input scales a row of features before it enters g: (x − offset)·scale, with one pair
// for all columns, one pair for each column, or none. With byRow it is (x − μ)/(σ + ε), by
// the mean and standard deviation of the row's own columns.
type input struct {
	offset, scale []float32
	byRow         bool
}

// rowEpsilon is ε, which keeps the noise of a row without contrast small. It is meant for
// pixels from 0 to 1.
const rowEpsilon = 0.05

// newInput returns the scaling for the source, n×d.
func newInput(ctx context.Context, s InputScaling, source blas32.General) (input, error) {
	switch s {
	case InputSymmetric:
		return input{offset: []float32{0.5}, scale: []float32{2}}, nil
	case InputStandard:
		return standardise(ctx, source)
	case InputRow:
		return input{byRow: true}, nil
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

// change writes one row, scaled and changed by f, to dst. Rows that are scaled by their own
// moments are scaled afterwards, because f changes these.
func (in input) change(dst, row []float32, f func(row []float32)) {
	if !in.byRow {
		in.apply(dst, row)
		f(dst)
		return
	}
	copy(dst, row)
	f(dst)
	in.apply(dst, dst)
}

// apply writes one row, scaled, to dst, which may be row.
func (in input) apply(dst, row []float32) {
	row = row[:len(dst)]
	if in.byRow {
		copy(dst, row)
		n := float32(len(dst))
		kernel.Affine(dst, 1, -kernel.Sum(dst)/n)
		deviation := math.Sqrt(float64(kernel.Dot(dst, dst) / n))
		kernel.Scale(float32(1/(deviation+rowEpsilon)), dst)
		return
	}
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
