package kernel

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"
)

// implementation is gonum's BLAS with the products of this package in it.
type implementation struct{ gonum.Implementation }

func init() {
	blas32.Use(implementation{})
	blas64.Use(implementation{})
}

// Sgemm computes C = alpha·op(A)·op(B) + beta·C. It splits large products over
// Jobs() threads; the bits of the result do not depend on how many.
func (i implementation) Sgemm(tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	if active.products32 == nil || !worthTiles(tA, tB, m, n, k, alpha, a, lda, b, ldb, c, ldc) {
		i.Implementation.Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	p := newProduct(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	active.products32.parallel(&p)
}

// Dgemm is Sgemm in float64.
func (i implementation) Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int) {
	if active.products64 == nil || !worthTiles(tA, tB, m, n, k, alpha, a, lda, b, ldb, c, ldc) {
		i.Implementation.Dgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	p := newProduct(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
	active.products64.parallel(&p)
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

// worthTiles reports whether the arguments are right and the product is not
// empty. gonum's own code gets all other calls: it has the messages for
// misuse and the rules for empty products.
func worthTiles[T float](tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, c []T, ldc int) bool {
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

// parallelWork is the number of multiplications that a thread must have at
// least: less is done before a second thread has woken up.
const parallelWork = 2 << 20

// parallel splits the job over the rows of c, or over its columns when it is
// wider than high.
func (t *tiling[T]) parallel(p *product[T]) {
	grain := max(1, parallelWork/(p.m*p.n*p.k/max(p.m, p.n)))
	if p.n > p.m {
		Parallel((p.n+t.wide-1)/t.wide, (grain+t.wide-1)/t.wide, func(lo, hi int) { t.columns(p, lo*t.wide, min(hi*t.wide, p.n)) })
		return
	}
	Parallel((p.m+t.rows-1)/t.rows, (grain+t.rows-1)/t.rows, func(lo, hi int) { t.band(p, lo*t.rows, min(hi*t.rows, p.m)) })
}

// band runs the rows [lo, hi) of the job.
func (t *tiling[T]) band(p *product[T], lo, hi int) {
	part := *p
	part.m, part.a, part.c = hi-lo, p.a.from(lo, 0), p.c[lo*p.cStep:]
	t.multiply(&part)
}

// columns runs the columns [lo, hi) of the job.
func (t *tiling[T]) columns(p *product[T], lo, hi int) {
	part := *p
	part.n, part.b, part.c = hi-lo, p.b.from(0, lo), p.c[lo:]
	t.multiply(&part)
}
