package prepare

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/eigen"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// reduce finds the principal components of the standardised source.
func (p *Preparation) reduce(ctx context.Context, kept blas32.General, seed uint64) error {
	z := dense.New64(kept.Rows, kept.Cols)
	p.standardise(z, kept)
	origin := centre(z)
	axes, err := principal(ctx, z, min(maxAxes, z.Rows), seed)
	if err != nil {
		return err
	}
	deviation := meanDeviation(z, axes)
	if !(deviation > 0) {
		return errAlike
	}
	axes.Apply(func(_, _ int, v float64) float64 { return float64(float32(v / deviation)) }, axes)
	var shift mat.VecDense
	shift.MulVec(axes.T(), mat.NewVecDense(len(origin), origin))
	shift.ScaleVec(-1, &shift)
	p.Axes, p.Origin = axes, shift.RawVector().Data
	return nil
}

// centre takes the mean of the rows of z away and returns it.
func centre(z blas64.General) []float64 {
	mean := make([]float64, z.Cols)
	for i := range z.Rows {
		for j, v := range z.Data[i*z.Cols:][:z.Cols] {
			mean[j] += v / float64(z.Rows)
		}
	}
	for i := range z.Rows {
		row := z.Data[i*z.Cols:][:z.Cols]
		for j := range row {
			row[j] -= mean[j]
		}
	}
	return mean
}

// meanDeviation is the mean deviation of the centred rows z along axes.
func meanDeviation(z blas64.General, axes *mat.Dense) float64 {
	_, q := axes.Dims()
	mapped := dense.New64(z.Rows, q)
	kernel.Gemm64(false, false, 1, z, axes.RawMatrix(), 0, mapped)
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

const (
	spareAxes  = 20 // more than asked for that are iterated
	axesRounds = 8  // of subspace iteration
)

// principal returns the q leading right singular vectors of z (n×d), d×q, by
// randomised subspace iteration (Halko, Martinsson & Tropp 2011).
func principal(ctx context.Context, z blas64.General, q int, seed uint64) (*mat.Dense, error) {
	size := min(q+spareAxes, z.Rows, z.Cols)
	rng := rand.New(rand.NewPCG(seed, 0))
	basis := mat.NewDense(z.Cols, size, nil)
	for i := range basis.RawMatrix().Data {
		basis.RawMatrix().Data[i] = rng.NormFloat64()
	}
	mapped := dense.New64(z.Rows, size)
	for range axesRounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		eigen.Orthonormalise(basis)
		kernel.Gemm64(false, false, 1, z, basis.RawMatrix(), 0, mapped)
		kernel.Gemm64(true, false, 1, z, mapped, 0, basis.RawMatrix())
	}
	eigen.Orthonormalise(basis)
	kernel.Gemm64(false, false, 1, z, basis.RawMatrix(), 0, mapped)
	small := mat.NewDense(size, size, nil)
	kernel.Gemm64(true, false, 1, mapped, mapped, 0, small.RawMatrix())
	inner, err := eigen.Leading(ctx, small, min(q, size))
	if err != nil {
		return nil, err
	}
	var axes mat.Dense
	axes.Mul(basis, inner)
	eigen.FixSigns(&axes)
	return &axes, nil
}
