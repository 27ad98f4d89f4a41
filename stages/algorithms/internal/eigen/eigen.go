// Package eigen decomposes symmetric matrices.
package eigen

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

const (
	// exactAxes is up to how many dimensions all eigenvectors are computed,
	// which takes their cube; above, subspace iteration finds the ones asked
	// for.
	exactAxes = 256
	// spareAxes is how many more than the ones asked for are iterated, and
	// axesRounds how often. The part of axis j that is wrong falls each round by
	// the ratio of eigenvalues q+spareAxes+1 and j. Where they are alike it
	// falls slowly, but then one axis is as good as the other.
	spareAxes  = 50
	axesRounds = 30
)

// Leading returns the q eigenvectors of the greatest eigenvalues of a d×d scatter,
// d×q, the greatest first. If d is above 256 it has to be at least q+50. It
// returns ctx.Err() if ctx ends.
func Leading(ctx context.Context, scatter *mat.Dense, q int) (*mat.Dense, error) {
	if d, _ := scatter.Dims(); d > exactAxes {
		return subspaceIteration(ctx, scatter, q)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	_, vectors, err := Symmetric(scatter)
	if err != nil {
		return nil, err
	}
	return leading(vectors, q), nil
}

// subspaceIteration multiplies a random basis by the scatter (d×d, d at least
// q+spareAxes) until it spans the leading eigenvectors (Rutishauser 1969).
func subspaceIteration(ctx context.Context, scatter *mat.Dense, q int) (*mat.Dense, error) {
	d, _ := scatter.Dims()
	size := q + spareAxes
	rng := rand.New(rand.NewPCG(0, 0)) // any basis does
	basis, product := mat.NewDense(d, size, nil), mat.NewDense(d, size, nil)
	for i := range basis.RawMatrix().Data {
		basis.RawMatrix().Data[i] = rng.NormFloat64()
	}
	for range axesRounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		orthonormalise(basis)
		product.Mul(scatter, basis)
		basis, product = product, basis
	}
	orthonormalise(basis)
	product.Mul(scatter, basis)
	var small, axes mat.Dense
	small.Mul(basis.T(), product)
	_, vectors, err := Symmetric(&small)
	if err != nil {
		return nil, err
	}
	axes.Mul(basis, vectors)
	return leading(&axes, q), nil
}

// orthonormalise replaces the columns of a by an orthonormal basis of their
// span.
func orthonormalise(a *mat.Dense) {
	m := a.RawMatrix()
	tau, length := make([]float64, m.Cols), []float64{0}
	lapack64.Geqrf(m, tau, length, -1)
	work := make([]float64, int(length[0]))
	lapack64.Geqrf(m, tau, work, len(work))
	lapack64.Orgqr(m, tau, length, -1)
	work = make([]float64, int(length[0]))
	lapack64.Orgqr(m, tau, work, len(work))
}

// Symmetric returns the eigenvalues of a symmetric matrix, of which the upper
// triangle is read, in increasing order, and their vectors as columns.
func Symmetric(a *mat.Dense) ([]float64, *mat.Dense, error) {
	d, _ := a.Dims()
	symmetric := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			symmetric.SetSym(i, j, a.At(i, j))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(symmetric, true) {
		return nil, nil, errors.New("eigen: a covariance has no eigenvalues: scale the features down")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	return eigen.Values(nil), &vectors, nil
}

// leading returns the last q columns, the last one first.
func leading(vectors *mat.Dense, q int) *mat.Dense {
	d, n := vectors.Dims()
	axes := mat.NewDense(d, q, nil)
	for j := range q {
		for i := range d {
			axes.Set(i, j, vectors.At(i, n-1-j))
		}
	}
	FixSigns(axes)
	return axes
}

// FixSigns turns each column so that its greatest value is positive: axes have
// no direction, and a choice that depends on rounding would not be repeatable.
func FixSigns(axes *mat.Dense) {
	d, q := axes.Dims()
	for j := range q {
		top := 0.0
		for i := range d {
			if v := axes.At(i, j); math.Abs(v) > math.Abs(top) {
				top = v
			}
		}
		for i := range d {
			axes.Set(i, j, math.Copysign(1, top)*axes.At(i, j))
		}
	}
}
