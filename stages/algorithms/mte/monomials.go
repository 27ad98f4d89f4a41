package mte

import (
	"gonum.org/v1/gonum/mat"
)

// monomials are the products of at most two of the q coordinates of a row:
//
//	1, x_1 … x_q, x_1² … x_q², x_1·x_2, x_1·x_3 … x_{q−1}·x_q
//
// Squared Mahalanobis distances are linear in them, and their weighted sums
// over rows are all that means and covariances need. So a step of EM is two
// matrix products, whatever the number of classes.
type monomials int // q

// all is the number of monomials, and axial that of the ones without products
// of two different coordinates, which come first.
func (q monomials) all() int   { return 1 + int(q) + int(q)*(int(q)+1)/2 }
func (q monomials) axial() int { return 1 + 2*int(q) }

// fill writes the monomials of x to dst.
func (q monomials) fill(dst []float64, x []float32) {
	dst = dst[:q.all()]
	dst[0] = 1
	linear, squares, cross := dst[1:1+q], dst[1+q:1+2*q], dst[1+2*q:]
	for j, v := range x {
		linear[j] = float64(v)
	}
	for j, v := range linear {
		squares[j] = v * v
		rest := linear[j+1:]
		out := cross[:len(rest)]
		for i, w := range rest {
			out[i] = v * w
		}
		cross = cross[len(rest):]
	}
}

// distance writes to column j of theta the coefficients of the squared
// Mahalanobis distance (x − mean)ᵀ·P·(x − mean).
func (q monomials) distance(theta *mat.Dense, j int, mean []float64, precision *mat.SymDense) {
	var product mat.VecDense // P·mean
	product.MulVec(precision, mat.NewVecDense(int(q), mean))
	constant, next := 0.0, q.axial()
	for a := range int(q) {
		constant += mean[a] * product.AtVec(a)
		theta.Set(1+a, j, -2*product.AtVec(a))
		theta.Set(1+int(q)+a, j, precision.At(a, a))
		for b := a + 1; b < int(q); b++ {
			theta.Set(next, j, 2*precision.At(a, b))
			next++
		}
	}
	theta.Set(0, j, constant)
}

// scatter returns Σ w·(x − centre)(x − centre)ᵀ from the weighted sums of all
// monomials.
func (q monomials) scatter(sums, centre []float64) *mat.SymDense {
	s := mat.NewSymDense(int(q), nil)
	next := q.axial()
	for a := range int(q) {
		s.SetSym(a, a, q.squares(sums, centre, a))
		for b := a + 1; b < int(q); b++ {
			s.SetSym(a, b, sums[next]-centre[a]*sums[1+b]-centre[b]*sums[1+a]+centre[a]*centre[b]*sums[0])
			next++
		}
	}
	return s
}

// squares returns Σ w·(x_a − centre_a)² from the weighted sums.
func (q monomials) squares(sums, centre []float64, a int) float64 {
	c := centre[a]
	return sums[1+int(q)+a] - 2*c*sums[1+a] + c*c*sums[0]
}
