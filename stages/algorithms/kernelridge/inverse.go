package kernelridge

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// Numbers of columns that invertFactor eliminates at a time: those of the whole
// matrix, and those of the blocks on its diagonal.
const (
	outerBlock = 128
	innerBlock = 16
)

// invertFactor replaces the lower triangle of a positive definite matrix A by
// M = L⁻¹, where A = L·Lᵀ, so that A⁻¹ = Mᵀ·M. It neither reads nor writes what
// is above the diagonal. It reports false if A is not positive definite.
//
// It eliminates [A | I] by blocks of columns. Left of the current block, a holds the
// right half, below and right of it what is left of A:
//
//	M_kk = L_kk⁻¹                    the block on the diagonal
//	L_ik = A_ik·M_kkᵀ                for the rows i below
//	X_k  ← M_kk·X_k, X_i ← X_i − L_ik·X_k    to the left
//	X_ik ← −L_ik·M_kk                the block itself
//	A_ij ← A_ij − L_ik·L_jkᵀ         to the right
func invertFactor(a blas64.General, block int) bool {
	n := a.Rows
	for lo := 0; lo < n; lo += block {
		hi := min(lo+block, n)
		corner := window(a, lo, hi, lo, hi)
		if block == innerBlock {
			if !invertSmall(corner) {
				return false
			}
		} else if !invertFactor(corner, innerBlock) {
			return false
		}
		eliminate(a, lo, hi)
	}
	return true
}

// eliminate does what follows the block on the diagonal, [lo, hi).
func eliminate(a blas64.General, lo, hi int) {
	n := a.Rows
	m := lower(window(a, lo, hi, lo, hi))
	if lo > 0 {
		x := window(a, lo, hi, 0, lo)
		kernel.Gemm64(false, false, 1, m, clone(x), 0, x)
	}
	if hi == n {
		return
	}
	column := window(a, hi, n, lo, hi)
	l := dense.New64(n-hi, hi-lo)
	kernel.Gemm64(false, true, 1, column, m, 0, l)
	if lo > 0 {
		kernel.Gemm64(false, false, -1, l, window(a, lo, hi, 0, lo), 1, window(a, hi, n, 0, lo))
	}
	kernel.Gemm64(false, false, -1, l, m, 0, column)
	rest := window(a, hi, n, hi, n)
	blas64.Syrk(blas.NoTrans, -1, l, 1, blas64.Symmetric{N: rest.Rows, Stride: rest.Stride, Data: rest.Data, Uplo: blas.Lower})
}

// invertSmall is invertFactor row by row: Cholesky's factor, and its inverse by
// substitution.
func invertSmall(a blas64.General) bool {
	for j := range a.Rows {
		row := a.Data[j*a.Stride:][:j+1]
		for k := range j {
			row[k] = (row[k] - dot(row[:k], a.Data[k*a.Stride:])) / a.Data[k*a.Stride+k]
		}
		pivot := row[j] - dot(row[:j], row)
		if !(pivot > 0) {
			return false
		}
		row[j] = math.Sqrt(pivot)
	}
	for i := range a.Rows {
		row := a.Data[i*a.Stride:][:i+1]
		for j := range i { // column j of the rows above is inverted already
			sum := 0.0
			for k := j; k < i; k++ {
				sum += row[k] * a.Data[k*a.Stride+j]
			}
			row[j] = -sum / row[i]
		}
		row[i] = 1 / row[i]
	}
	return true
}

// window is rows [i0, i1) and columns [j0, j1) of a, sharing its memory.
func window(a blas64.General, i0, i1, j0, j1 int) blas64.General {
	return blas64.General{Rows: i1 - i0, Cols: j1 - j0, Stride: a.Stride, Data: a.Data[i0*a.Stride+j0 : (i1-1)*a.Stride+j1]}
}

// timesInverse returns A⁻¹·y, by the factor m of invertFactor with zeros above its diagonal. Blocks
// that are all zeros are not multiplied.
func timesInverse(m, y blas64.General) blas64.General {
	half, product := dense.New64(m.Rows, y.Cols), dense.New64(m.Rows, y.Cols)
	for lo := 0; lo < m.Rows; lo += outerBlock {
		hi := min(lo+outerBlock, m.Rows)
		kernel.Gemm64(false, false, 1, window(m, lo, hi, 0, hi), window(y, 0, hi, 0, y.Cols), 0, window(half, lo, hi, 0, y.Cols))
	}
	for lo := 0; lo < m.Rows; lo += outerBlock {
		hi := min(lo+outerBlock, m.Rows)
		kernel.Gemm64(true, false, 1, window(m, lo, m.Rows, lo, hi), window(half, lo, m.Rows, 0, y.Cols), 0, window(product, lo, hi, 0, y.Cols))
	}
	return product
}

// clone copies a.
func clone(a blas64.General) blas64.General {
	b := dense.New64(a.Rows, a.Cols)
	for i := range a.Rows {
		copy(b.Data[i*b.Stride:][:b.Cols], a.Data[i*a.Stride:])
	}
	return b
}

// lower copies the lower triangle of a square matrix, with zeros above it.
func lower(a blas64.General) blas64.General {
	b := dense.New64(a.Rows, a.Cols)
	for i := range a.Rows {
		copy(b.Data[i*b.Stride:][:i+1], a.Data[i*a.Stride:])
	}
	return b
}
