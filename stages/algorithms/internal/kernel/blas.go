package kernel

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
)

// implementation is gonum's BLAS with the products of this package.
type implementation struct{ gonum.Implementation }

func init() {
	blas32.Use(implementation{})
	blas64.Use(implementation{})
}

// Sgemm computes C = alpha·op(A)·op(B) + beta·C with op(A) of m×k, op(B) of k×n
// and C of m×n. It splits large products over Jobs() threads; the bits of the
// result do not depend on the number of threads.
func (i implementation) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	if active.products32 == nil || !canTile(tA, tB, m, n, k, alpha, a, lda, b, ldb, c, ldc) {
		i.Implementation.Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	p := newProduct(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	active.products32.parallel(&p)
}

// Dgemm is Sgemm in float64.
func (i implementation) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if active.products64 == nil || !canTile(tA, tB, m, n, k, alpha, a, lda, b, ldb, c, ldc) {
		i.Implementation.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	p := newProduct(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	active.products64.parallel(&p)
}

// Sgemv computes y = alpha·op(A)·x + beta·y with A of m×n.
func (i implementation) Sgemv(t blas.Transpose, m, n int, alpha float32, a []float32, lda int, x []float32, incX int, beta float32, y []float32, incY int) {
	if incX != 1 || incY != 1 || !fitsVectors(t, m, n, alpha, a, lda, x, y) {
		i.Implementation.Sgemv(t, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	matrixVector(t, m, n, alpha, a, lda, x, beta, y, active.dot, active.axpy)
}

// Dgemv is Sgemv in float64.
func (i implementation) Dgemv(t blas.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64, y []float64, incY int) {
	if incX != 1 || incY != 1 || !fitsVectors(t, m, n, alpha, a, lda, x, y) {
		i.Implementation.Dgemv(t, m, n, alpha, a, lda, x, incX, beta, y, incY)
		return
	}
	matrixVector(t, m, n, alpha, a, lda, x, beta, y, active.dot64, active.axpy64)
}

// Ssyrk computes one triangle of the n×n matrix C = alpha·A·Aᵀ + beta·C with A
// of n×k or, if transposed, C = alpha·Aᵀ·A + beta·C with A of k×n.
func (i implementation) Ssyrk(uplo blas.Uplo, t blas.Transpose, n, k int, alpha float32, a []float32, lda int, beta float32, c []float32, ldc int) {
	if active.products32 == nil || !canTileTriangle(uplo, t, n, k, alpha, a, lda, c, ldc) {
		i.Implementation.Ssyrk(uplo, t, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	active.products32.triangle(uplo, selfProduct(t, n, k, alpha, a, lda, beta, c, ldc))
}

// Dsyrk is Ssyrk in float64.
func (i implementation) Dsyrk(uplo blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int) {
	if active.products64 == nil || !canTileTriangle(uplo, t, n, k, alpha, a, lda, c, ldc) {
		i.Implementation.Dsyrk(uplo, t, n, k, alpha, a, lda, beta, c, ldc)
		return
	}
	active.products64.triangle(uplo, selfProduct(t, n, k, alpha, a, lda, beta, c, ldc))
}

// newProduct describes op(A)·op(B) by strides.
func newProduct[T float](tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int) product[T] {
	p := product[T]{m: m, n: n, k: k, alpha: alpha, beta: beta, c: c, cStep: ldc,
		a: view[T]{a, lda, 1}, b: view[T]{b, ldb, 1}}
	if tA != blas.NoTrans {
		p.a = view[T]{a, 1, lda}
	}
	if tB != blas.NoTrans {
		p.b = view[T]{b, 1, ldb}
	}
	return p
}

// canTile reports whether the arguments are valid and the product is not
// empty. All other calls go to gonum's own code, which has the messages for
// misuse and the rules for empty products.
func canTile[T float](tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, c []T, ldc int) bool {
	if m <= 0 || n <= 0 || k <= 0 || alpha == 0 {
		return false
	}
	return fits(tA, m, k, a, lda) && fits(tB, k, n, b, ldb) && fits(blas.NoTrans, m, n, c, ldc)
}

// fits reports whether x holds a rows×cols matrix, stored transposed if t says so.
func fits[T float](t blas.Transpose, rows, cols int, x []T, stride int) bool {
	switch t {
	case blas.Trans, blas.ConjTrans:
		rows, cols = cols, rows
	case blas.NoTrans:
	default:
		return false
	}
	return stride >= cols && len(x) >= (rows-1)*stride+cols
}
