package classmap

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/eigen"
)

const (
	// exactAxes is the greatest number of dimensions for which the roots of
	// covariances are exact, in O(d³) time. With more dimensions they are exact
	// only in the keptAxes leading axes.
	exactAxes = 256
	keptAxes  = 100
)

// between returns source^(−½)·target^(½), which maps rows with the one covariance
// (d×d) to rows with the other. With many dimensions it does so in the axes in
// which the two together vary most. It scales the orthogonal complement by the
// root of the ratio of the variances there.
func between(ctx context.Context, source, target *mat.SymDense) (*mat.Dense, error) {
	d := source.SymmetricDim()
	if d <= exactAxes {
		return roots(source, target)
	}
	var both, within, along mat.Dense
	both.Add(source, target)
	axes, err := eigen.Leading(ctx, &both, keptAxes)
	if err != nil {
		return nil, err
	}
	s, t := project(source, axes), project(target, axes)
	inner, err := roots(s, t)
	if err != nil {
		return nil, err
	}
	rest := math.Sqrt((mat.Trace(target) - mat.Trace(t)) / (mat.Trace(source) - mat.Trace(s)))
	addDiagonal(inner, -rest)
	along.Mul(axes, inner)
	within.Mul(&along, axes.T())
	addDiagonal(&within, rest)
	return &within, nil
}

// roots is between for few dimensions.
func roots(source, target *mat.SymDense) (*mat.Dense, error) {
	whiten, err := power(source, -0.5)
	if err != nil {
		return nil, err
	}
	colour, err := power(target, 0.5)
	if err != nil {
		return nil, err
	}
	var m mat.Dense
	m.Mul(whiten, colour)
	return &m, nil
}

// project returns the covariance along axes (d×q).
func project(covariance *mat.SymDense, axes *mat.Dense) *mat.SymDense {
	var half, p mat.Dense
	half.Mul(covariance, axes)
	p.Mul(axes.T(), &half)
	return eigen.Symmetrised(&p)
}

func addDiagonal(m *mat.Dense, v float64) {
	d, _ := m.Dims()
	for j := range d {
		m.Set(j, j, m.At(j, j)+v)
	}
}
