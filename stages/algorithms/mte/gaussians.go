package mte

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// poolingCounts, plus the number of dimensions, is how many rows the pooled
// covariance counts for beside those of a class.
const poolingCounts = 5

// gaussians are the classes of the source as Gaussians in q dimensions.
type gaussians struct {
	prior       []float64       // C, sums to 1
	means       *mat.Dense      // C×q
	covariances []*mat.SymDense // C of q×q, shrunk
	pooled      *mat.SymDense   // q×q
}

// classSums returns the C×all sums of monomials over the rows of each class,
// each row weighted; nil weights are all 1.
func classSums(x blas32.General, labels []int32, weights []float64, classes int) *mat.Dense {
	q := monomials(x.Cols)
	sums := mat.NewDense(classes, q.all(), nil)
	block, choice := dense.New64(mapRows, q.all()), dense.New64(mapRows, classes)
	for lo := 0; lo < x.Rows; lo += mapRows {
		hi := min(lo+mapRows, x.Rows)
		block.Rows, choice.Rows = hi-lo, hi-lo
		clear(choice.Data)
		for i := lo; i < hi; i++ {
			q.fill(block.Data[(i-lo)*block.Stride:], dense.Row(x, i))
			w := 1.0
			if weights != nil {
				w = weights[i]
			}
			choice.Data[(i-lo)*classes+int(labels[i])] = w
		}
		kernel.Gemm64(true, false, 1, choice, block, 1, sums.RawMatrix())
	}
	return sums
}

// newGaussians returns the Gaussians of classes with the given sums. The
// covariance of a class is pooling parts of the pooled one and 1−pooling parts
// of its own, itself shrunk to the pooled one with poolingCounts+q rows.
func newGaussians(sums *mat.Dense, q monomials, pooling float64) *gaussians {
	classes, _ := sums.Dims()
	d := int(q)
	g := &gaussians{prior: make([]float64, classes), means: mat.NewDense(classes, d, nil), pooled: mat.NewSymDense(d, nil)}
	n := 0.0
	for k := range classes {
		s, mean := sums.RawRowView(k), g.means.RawRowView(k)
		for j := range mean {
			mean[j] = s[1+j] / s[0]
		}
		n += s[0]
		g.prior[k] = s[0]
		g.covariances = append(g.covariances, q.scatter(s, mean))
		g.pooled.AddSym(g.pooled, g.covariances[k])
	}
	g.pooled.ScaleSym(1/max(n-float64(classes), 1), g.pooled)
	for j := range d {
		g.pooled.SetSym(j, j, g.pooled.At(j, j)+minVariance)
	}
	strength := float64(d + poolingCounts)
	for k, own := range g.covariances {
		total := g.prior[k] + strength
		g.combine(own, (1-pooling)/total, (1-pooling)*strength/total+pooling)
		g.prior[k] /= n
	}
	return g
}

// combine sets own to a·own + b·pooled.
func (g *gaussians) combine(own *mat.SymDense, a, b float64) {
	d := own.SymmetricDim()
	for i := range d {
		for j := i; j < d; j++ {
			own.SetSym(i, j, a*own.At(i, j)+b*g.pooled.At(i, j))
		}
	}
}

// jitter is the least multiple of the mean variance that is added to the
// diagonal of a covariance before it is inverted; it grows tenfold, up to
// maxJitter, until the covariance is positive definite.
const (
	jitter    = 1e-6
	maxJitter = 1.0
)

// invert returns the inverse of a covariance and the logarithm of the square
// root of its determinant.
func invert(covariance *mat.SymDense) (precision *mat.SymDense, logRoot float64, err error) {
	d := covariance.SymmetricDim()
	mean := mat.Trace(covariance) / float64(d)
	var cholesky mat.Cholesky
	for e := jitter; e <= maxJitter; e *= 10 {
		s := mat.NewSymDense(d, nil)
		s.CopySym(covariance)
		for j := range d {
			s.SetSym(j, j, s.At(j, j)+e*mean)
		}
		if !cholesky.Factorize(s) {
			continue
		}
		precision = mat.NewSymDense(d, nil)
		if err := cholesky.InverseTo(precision); err != nil && !dense.IsCondition(err) {
			continue
		}
		return precision, cholesky.LogDet() / 2, nil
	}
	return nil, math.NaN(), errors.New("mte: the covariance of a class has no inverse: scale the features down")
}
