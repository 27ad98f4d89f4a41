package kernel

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
)

// Gemm computes c = alpha·op(a)·op(b) + beta·c on the calling goroutine alone,
// where op(x) is xᵀ if its flag is set and x otherwise. With op(a) of m×k and
// op(b) of k×n, c is m×n. c is not read when beta is 0, and must not overlap a
// or b. Shapes that do not fit panic. blas32.Gemm computes the same with
// threads. (gonum's code, which is the level "generic", skips products with a
// zero of a, so there 0·NaN and 0·Inf count as 0.)
func Gemm(tA, tB bool, alpha float32, a, b blas32.General, beta float32, c blas32.General) {
	m, k := oriented(tA, a.Rows, a.Cols)
	kb, n := oriented(tB, b.Rows, b.Cols)
	checkProduct(m, n, k, kb, c.Rows, c.Cols)
	if active.products32 == nil || !canTile(transpose(tA), transpose(tB), m, n, k, alpha, a.Data, a.Stride, b.Data, b.Stride, c.Data, c.Stride) {
		gonum.Implementation{}.Sgemm(transpose(tA), transpose(tB), m, n, k, alpha, a.Data, a.Stride, b.Data, b.Stride, beta, c.Data, c.Stride)
		return
	}
	p := newProduct(transpose(tA), transpose(tB), m, n, k, alpha, a.Data, a.Stride, b.Data, b.Stride, beta, c.Data, c.Stride)
	active.products32.multiply(&p)
}

// Gemm64 is Gemm in float64.
func Gemm64(tA, tB bool, alpha float64, a, b blas64.General, beta float64, c blas64.General) {
	m, k := oriented(tA, a.Rows, a.Cols)
	kb, n := oriented(tB, b.Rows, b.Cols)
	checkProduct(m, n, k, kb, c.Rows, c.Cols)
	if active.products64 == nil || !canTile(transpose(tA), transpose(tB), m, n, k, alpha, a.Data, a.Stride, b.Data, b.Stride, c.Data, c.Stride) {
		gonum.Implementation{}.Dgemm(transpose(tA), transpose(tB), m, n, k, alpha, a.Data, a.Stride, b.Data, b.Stride, beta, c.Data, c.Stride)
		return
	}
	p := newProduct(transpose(tA), transpose(tB), m, n, k, alpha, a.Data, a.Stride, b.Data, b.Stride, beta, c.Data, c.Stride)
	active.products64.multiply(&p)
}

// oriented returns the shape of op(x) for x of rows×cols.
func oriented(t bool, rows, cols int) (int, int) {
	if t {
		return cols, rows
	}
	return rows, cols
}

func transpose(t bool) blas.Transpose {
	if t {
		return blas.Trans
	}
	return blas.NoTrans
}

func checkProduct(m, n, k, kb, rows, cols int) {
	if k != kb || rows != m || cols != n {
		panic("kernel: Gemm: shapes of the operands do not fit")
	}
}
