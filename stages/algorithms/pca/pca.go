// Package pca finds principal components by randomised subspace iteration (Halko,
// Martinsson & Tropp 2011, Algorithm 4.4).
package pca

import (
	"context"
	"errors"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/eigen"
	_ "mars.dev/mars/stages/algorithms/internal/kernel" // products by threads
)

// Projection is rows seen along their principal components.
type Projection struct {
	Scores blas64.General // n×q: the rows, centred, along the components
	// Explained is the share of the variance that each component has. All are 0 if the
	// rows are alike.
	Explained []float64
}

// Project returns the rows of x (n×d) along their q leading principal components, fewer if
// x has fewer rows or columns. seed draws what the search starts from. It fails if there
// are no rows or columns, or a value is not finite; the end of ctx ends it.
func Project(ctx context.Context, x blas32.General, q int, seed uint64) (*Projection, error) {
	if x.Rows == 0 || x.Cols == 0 {
		return nil, errors.New("pca: there are no values")
	}
	if err := dense.CheckFinite("pca:", x, 0); err != nil {
		return nil, err
	}
	z := dense.New64(x.Rows, x.Cols)
	for i := range x.Rows {
		for j, v := range dense.Row(x, i) {
			z.Data[i*z.Cols+j] = float64(v)
		}
	}
	Centre(z)
	axes, err := Axes(ctx, z, min(q, x.Rows, x.Cols), seed)
	if err != nil {
		return nil, err
	}
	_, q = axes.Dims()
	p := &Projection{Scores: dense.New64(x.Rows, q), Explained: make([]float64, q)}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, z, axes.RawMatrix(), 0, p.Scores)
	p.explain(z)
	return p, nil
}

// explain sets the shares of the variance of z, which is centred.
func (p *Projection) explain(z blas64.General) {
	all := 0.0
	for _, v := range z.Data {
		all += v * v
	}
	if all == 0 {
		return
	}
	q := p.Scores.Cols
	for i, v := range p.Scores.Data {
		p.Explained[i%q] += v * v / all
	}
}

// Centre takes the mean of the rows of z away and returns it.
func Centre(z blas64.General) []float64 {
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

// How the search goes: with 20 spare axes, eight rounds find the leading ones to rounding
// where variances fall off.
const (
	SpareAxes = 20 // more than asked for that are iterated
	Rounds    = 8  // of subspace iteration
)

// Axes returns the q leading right singular vectors of z (n×d), d×q, with the signs of
// eigen.FixSigns. q is at most n and d.
func Axes(ctx context.Context, z blas64.General, q int, seed uint64) (*mat.Dense, error) {
	size := min(q+SpareAxes, z.Rows, z.Cols)
	rng := rand.New(rand.NewPCG(seed, 0))
	basis := mat.NewDense(z.Cols, size, nil)
	for i := range basis.RawMatrix().Data {
		basis.RawMatrix().Data[i] = rng.NormFloat64()
	}
	mapped := dense.New64(z.Rows, size)
	for range Rounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		eigen.Orthonormalise(basis)
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, z, basis.RawMatrix(), 0, mapped)
		blas64.Gemm(blas.Trans, blas.NoTrans, 1, z, mapped, 0, basis.RawMatrix())
	}
	eigen.Orthonormalise(basis)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, z, basis.RawMatrix(), 0, mapped)
	small := mat.NewDense(size, size, nil)
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, mapped, mapped, 0, small.RawMatrix())
	inner, err := eigen.Leading(ctx, small, min(q, size))
	if err != nil {
		return nil, err
	}
	var axes mat.Dense
	axes.Mul(basis, inner)
	eigen.FixSigns(&axes)
	return &axes, nil
}
