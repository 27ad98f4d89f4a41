package prepare

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/affine"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/pca"
)

// reduce finds the principal components of the standardised source.
func (p *Map) reduce(ctx context.Context, kept blas32.General, seed uint64) error {
	z := dense.New64(kept.Rows, kept.Cols)
	p.affine().Standardise(z, kept)
	origin := pca.Centre(z)
	axes, err := pca.Axes(ctx, z, min(maxAxes, z.Rows), seed)
	if err != nil {
		return err
	}
	deviation := meanDeviation(z, axes)
	if !(deviation > 0) {
		return errAlike
	}
	axes.Apply(func(_, _ int, v float64) float64 { return float64(float32(v / deviation)) }, axes)
	p.Axes, p.Origin = axes, affine.Shift(axes, origin)
	return nil
}

// meanDeviation is the mean deviation of the centred rows z along axes.
func meanDeviation(z blas64.General, axes *mat.Dense) float64 {
	_, q := axes.Dims()
	mapped := dense.New64(z.Rows, q)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, z, axes.RawMatrix(), 0, mapped)
	squares := make([]float64, q)
	for i := range mapped.Rows {
		for j, v := range mapped.Data[i*q:][:q] {
			squares[j] += v * v / float64(mapped.Rows)
		}
	}
	sum := 0.0
	for _, s := range squares {
		sum += math.Sqrt(s)
	}
	return sum / float64(q)
}
