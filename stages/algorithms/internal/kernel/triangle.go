package kernel

import "gonum.org/v1/gonum/blas"

// triangleBlock is the side of the squares on the diagonal of a triangle: a
// multiple of panelRows and of the columns of wide, narrow and half tiles.
const triangleBlock = 96

// selfProduct describes A·Aᵀ, or Aᵀ·A if t says so.
func selfProduct[T float](t blas.Transpose, n, k int, alpha T, a []T, lda int, beta T, c []T, ldc int) *product[T] {
	left, right := blas.NoTrans, blas.Trans
	if t != blas.NoTrans {
		left, right = blas.Trans, blas.NoTrans
	}
	p := newProduct(left, right, n, n, k, alpha, a, lda, a, lda, beta, c, ldc)
	return &p
}

// canTileTriangle is worthTiles for a product of a matrix with itself.
func canTileTriangle[T float](uplo blas.Uplo, t blas.Transpose, n, k int, alpha T, a []T, lda int, c []T, ldc int) bool {
	if n <= 0 || k <= 0 || alpha == 0 || uplo != blas.Upper && uplo != blas.Lower {
		return false
	}
	return fits(t, n, k, a, lda) && fits(blas.NoTrans, n, n, c, ldc)
}

// triangle runs a job whose result is symmetric, for one triangle of it. It goes
// along the diagonal in squares: the rectangle beside a square goes straight to
// c, and the square through a buffer of which one triangle is used.
func (t *tiling[T]) triangle(uplo blas.Uplo, p *product[T]) {
	square := make([]T, triangleBlock*triangleBlock)
	for i := 0; i < p.n; i += triangleBlock {
		end := min(i+triangleBlock, p.n)
		from, to := end, p.n
		if uplo == blas.Lower {
			from, to = 0, i
		}
		if from < to {
			beside := p.part(i, end, from, to)
			t.parallel(&beside)
		}
		diagonal := p.part(i, end, i, end)
		t.diagonal(uplo, &diagonal, square)
	}
}

// diagonal runs a square job in the buffer, and adds one triangle of the result
// to beta·c.
func (t *tiling[T]) diagonal(uplo blas.Uplo, p *product[T], square []T) {
	whole := *p
	whole.beta, whole.c, whole.cStep = 0, square, triangleBlock
	t.multiply(&whole)
	for i := range p.n {
		from, to := i, p.n
		if uplo == blas.Lower {
			from, to = 0, i+1
		}
		row, sums := p.c[i*p.cStep+from:i*p.cStep+to], square[i*triangleBlock+from:]
		for j := range row {
			if p.beta == 0 {
				row[j] = sums[j]
				continue
			}
			row[j] = p.beta*row[j] + sums[j]
		}
	}
}
