package hedge

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/eigen"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// axes maps rows to coordinates along principal axes, z ↦ (z − mean)·Directions.
type axes struct {
	directions blas32.General // d×q
	offset     []float32      // q: −mean·directions
}

// principalAxes returns the q leading principal axes of the rows of z (n×d), or d if
// that is less.
func principalAxes(ctx context.Context, z blas32.General, q int) (*axes, error) {
	mean := dense.ColumnMeans(z)
	centred := dense.New64(z.Rows, z.Cols)
	for i := range z.Rows {
		for j, v := range dense.Row(z, i) {
			centred.Data[i*z.Cols+j] = float64(v) - mean[j]
		}
	}
	scatter := mat.NewDense(z.Cols, z.Cols, nil)
	kernel.Gemm64(true, false, 1, centred, centred, 0, scatter.RawMatrix())
	leading, err := eigen.Leading(ctx, scatter, min(q, z.Cols))
	if err != nil {
		return nil, err
	}
	_, q = leading.Dims()
	a := &axes{directions: dense.New(z.Cols, q), offset: make([]float32, q)}
	for k := range q {
		shift := 0.0
		for j, m := range mean {
			a.directions.Data[j*q+k] = float32(leading.At(j, k))
			shift -= m * leading.At(j, k)
		}
		a.offset[k] = float32(shift)
	}
	return a, nil
}

// apply returns the coordinates of the rows of z, n×q.
func (a *axes) apply(z blas32.General) blas32.General {
	y := dense.New(z.Rows, a.directions.Cols)
	kernel.Gemm(false, false, 1, z, a.directions, 0, y)
	kernel.AddBias(y.Data, y.Rows, y.Cols, a.offset)
	return y
}
