package kernel

import "gonum.org/v1/gonum/blas"

// fitsVectors reports whether the arguments of a product of an m×n matrix and
// a contiguous vector are valid and the product is not empty.
func fitsVectors[T float](t blas.Transpose, m, n int, alpha T, a []T, lda int, x, y []T) bool {
	if m <= 0 || n <= 0 || alpha == 0 || !fits(blas.NoTrans, m, n, a, lda) {
		return false
	}
	switch t {
	case blas.NoTrans:
		return len(x) >= n && len(y) >= m
	case blas.Trans, blas.ConjTrans:
		return len(x) >= m && len(y) >= n
	}
	return false
}

// matrixVector computes y = alpha·op(A)·x + beta·y row by row of A: each row
// gives a dot product or, if A is transposed, a multiple of it is added to y.
func matrixVector[T float](t blas.Transpose, m, n int, alpha T, a []T, lda int, x []T, beta T, y []T,
	dot func(x, y []T) T, axpy func(alpha T, x, y []T)) {
	if t == blas.NoTrans {
		for i := range m {
			sum := alpha * dot(a[i*lda:i*lda+n], x[:n])
			if beta != 0 {
				sum += beta * y[i]
			}
			y[i] = sum
		}
		return
	}
	y = y[:n]
	for j := range y {
		if beta == 0 {
			y[j] = 0
			continue
		}
		y[j] *= beta
	}
	for i := range m {
		axpy(alpha*x[i], a[i*lda:i*lda+n], y)
	}
}
