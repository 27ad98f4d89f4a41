package kernelridge

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// equations are left·a = right for the coefficients a, m×C.
type equations struct {
	left  blas64.General // m×m, positive definite, of which the upper triangle is read
	right blas64.General // m×C
}

// exactEquations are those of all rows as landmarks.
func exactEquations(_ context.Context, x, _ blas32.General, y blas64.General, weights []float64, h Hyper) equations {
	e := equations{Gram(x, x, h.Gamma), y}
	for i, w := range weights {
		e.left.Data[i*e.left.Stride+i] += h.Lambda / w
	}
	return e
}

// landmarkEquations are those of Nyström's approximation, incomplete if ctx ends.
func landmarkEquations(ctx context.Context, x, landmarks blas32.General, y blas64.General, weights []float64, h Hyper) equations {
	m := landmarks.Rows
	e := equations{Gram(landmarks, landmarks, h.Gamma), dense.New64(m, y.Cols)}
	scale(e.left.Data, h.Lambda)
	for i := range m {
		e.left.Data[i*m+i] += jitter * (h.Lambda + float64(x.Rows)/float64(m))
	}
	for lo := 0; lo < x.Rows && ctx.Err() == nil; lo += blockRows {
		hi := min(lo+blockRows, x.Rows)
		k := Gram(dense.Rows(x, lo, hi), landmarks, h.Gamma)
		e.add(k, clone(window(y, lo, hi, 0, y.Cols)), weights[lo:hi])
	}
	return e
}

// add adds kᵀ·W·k to the left and kᵀ·W·y to the right, for some of the rows. It
// overwrites k and y.
func (e equations) add(k, y blas64.General, weights []float64) {
	for i, w := range weights {
		root := math.Sqrt(w)
		scale(k.Data[i*k.Stride:][:k.Cols], root)
		scale(y.Data[i*y.Stride:][:y.Cols], root)
	}
	blas64.Syrk(blas.Trans, 1, k, 1, blas64.Symmetric{N: k.Cols, Stride: e.left.Stride, Data: e.left.Data, Uplo: blas.Upper})
	kernel.Gemm64(true, false, 1, k, y, 1, e.right)
}

// manyClasses are so many that to multiply by an inverse is faster than to substitute.
const manyClasses = 65

// solve returns a. It may overwrite e.
func (e equations) solve(ctx context.Context, lambda float64) (*mat.Dense, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if e.right.Cols >= manyClasses {
		return e.solveMany(ctx, lambda)
	}
	var cholesky mat.Cholesky
	if !cholesky.Factorize(mat.NewSymDense(e.left.Rows, e.left.Data)) {
		return nil, singular(lambda)
	}
	var a mat.Dense
	if err := cholesky.SolveTo(&a, mat.NewDense(e.right.Rows, e.right.Cols, e.right.Data)); err != nil && !dense.IsCondition(err) {
		return nil, fmt.Errorf("kernelridge: %w", err)
	}
	return &a, ctx.Err()
}

// solveMany is solve by the inverse of the left's factor.
func (e equations) solveMany(ctx context.Context, lambda float64) (*mat.Dense, error) {
	n := e.left.Rows
	for i := range n {
		for j := range i {
			e.left.Data[i*e.left.Stride+j] = e.left.Data[j*e.left.Stride+i]
		}
	}
	if !invertFactor(e.left, outerBlock) {
		return nil, singular(lambda)
	}
	a := timesInverse(lower(e.left), e.right)
	return mat.NewDense(n, a.Cols, a.Data), ctx.Err()
}

// blockRows is how many rows' kernel values are held at a time in training.
const blockRows = 2048

func scale(x []float64, by float64) {
	for i := range x {
		x[i] *= by
	}
}

// narrow returns a in float32.
func narrow(a *mat.Dense) blas32.General {
	rows, cols := a.Dims()
	b := dense.New(rows, cols)
	for i := range rows {
		for j, v := range a.RawRowView(i) {
			b.Data[i*cols+j] = float32(v)
		}
	}
	return b
}
