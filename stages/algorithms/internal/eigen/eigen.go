// Package eigen computes eigenvalues and eigenvectors of symmetric matrices: all of them,
// or the leading ones of a large matrix by subspace iteration.
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
	// maxExact is the largest dimension for which Leading computes all eigenvectors,
	// in cubic time. Above it, subspace iteration computes only those asked for.
	maxExact = 256
	// oversampling is the number of vectors that subspace iteration has beyond the q
	// asked for. In each of its iterations the error of vector j falls by the ratio of
	// eigenvalue q+oversampling+1 to eigenvalue j. If the two are close it falls slowly,
	// but then either vector is as good as the other.
	oversampling = 50
	iterations   = 30
)

// Leading returns the eigenvectors of the q largest eigenvalues of the d×d matrix scatter
// as the columns of a d×q matrix, the largest first. If d is above 256 it must be at least
// q+50. It fails if the decomposition does not converge, and returns ctx.Err() if ctx ends.
func Leading(ctx context.Context, scatter *mat.Dense, q int) (*mat.Dense, error) {
	if d, _ := scatter.Dims(); d > maxExact {
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
// q+oversampling) until it spans the leading eigenvectors (Rutishauser 1969).
func subspaceIteration(ctx context.Context, scatter *mat.Dense, q int) (*mat.Dense, error) {
	d, _ := scatter.Dims()
	size := q + oversampling
	rng := rand.New(rand.NewPCG(0, 0)) // any basis does
	basis, product := mat.NewDense(d, size, nil), mat.NewDense(d, size, nil)
	for i := range basis.RawMatrix().Data {
		basis.RawMatrix().Data[i] = rng.NormFloat64()
	}
	for range iterations {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		Orthonormalise(basis)
		product.Mul(scatter, basis)
		basis, product = product, basis
	}
	Orthonormalise(basis)
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

// Orthonormalise replaces the columns of a by an orthonormal basis of their
// span.
func Orthonormalise(a *mat.Dense) {
	m := a.RawMatrix()
	tau, length := make([]float64, m.Cols), []float64{0}
	lapack64.Geqrf(m, tau, length, -1)
	work := make([]float64, int(length[0]))
	lapack64.Geqrf(m, tau, work, len(work))
	lapack64.Orgqr(m, tau, length, -1)
	work = make([]float64, int(length[0]))
	lapack64.Orgqr(m, tau, work, len(work))
}

// Symmetric returns the eigenvalues of a symmetric d×d matrix in increasing order, and
// their eigenvectors as the columns of a d×d matrix. It reads the upper triangle of a. It
// fails if the decomposition does not converge.
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
		return nil, nil, errors.New("eigen: the eigenvalues of a covariance do not converge: scale the features down")
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	return eigen.Values(nil), &vectors, nil
}

// Symmetrised returns the mean of a and its transpose.
func Symmetrised(a *mat.Dense) *mat.SymDense {
	d, _ := a.Dims()
	s := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			s.SetSym(i, j, (a.At(i, j)+a.At(j, i))/2)
		}
	}
	return s
}

// leading returns the last q columns, the last one first, with FixSigns applied.
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

// FixSigns changes the sign of each column of axes so that its value of largest modulus is
// positive. The sign of an eigenvector is arbitrary; without a rule it would depend on
// rounding.
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
