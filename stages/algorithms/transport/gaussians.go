package transport

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/eigen"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// Gaussians sums the rows of each class, batch by batch, for their means and
// covariances. It holds (C+1)·d² numbers, however many rows there are.
type Gaussians struct {
	*Prototypes
	// The first row of each class and the scatter of the other rows around it.
	// It is near enough to the mean that the covariance loses no digits when
	// the mean is subtracted.
	origins  [][]float64
	scatters []*mat.Dense
}

// NewGaussians returns an empty sum for rows of d values in C classes.
func NewGaussians(classes, d int) *Gaussians {
	return &Gaussians{Prototypes: NewPrototypes(classes, d), origins: make([][]float64, classes), scatters: make([]*mat.Dense, classes)}
}

// Add is Prototypes.Add.
func (g *Gaussians) Add(ctx context.Context, x blas32.General, labels []int32) error {
	if err := g.Prototypes.Add(ctx, x, labels); err != nil {
		return err
	}
	members := make([][]int, len(g.counts))
	for i, l := range labels {
		if l >= 0 {
			members[l] = append(members[l], i)
		}
	}
	kernel.Parallel(len(members), 1, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			if len(members[k]) > 0 {
				g.addScatter(ctx, k, x, members[k])
			}
		}
	})
	return ctx.Err()
}

// addScatter adds the given rows of x to class k. It stops early if ctx ends.
func (g *Gaussians) addScatter(ctx context.Context, k int, x blas32.General, rows []int) {
	d := x.Cols
	if g.origins[k] == nil {
		g.origins[k], g.scatters[k] = make([]float64, d), mat.NewDense(d, d, nil)
		for j, v := range x.Data[rows[0]*x.Stride:][:d] {
			g.origins[k][j] = float64(v)
		}
	}
	block := blas64.General{Cols: d, Stride: d, Data: make([]float64, min(len(rows), addedRows)*d)}
	for ; len(rows) > 0 && ctx.Err() == nil; rows = rows[block.Rows:] {
		block.Rows = min(len(rows), addedRows)
		for i, at := range rows[:block.Rows] {
			out := block.Data[i*d:][:d]
			for j, v := range x.Data[at*x.Stride:][:d] {
				out[j] = float64(v) - g.origins[k][j]
			}
		}
		kernel.Gemm64(true, false, 1, block, block, 1, g.scatters[k].RawMatrix())
	}
}

// Covariance returns the d×d covariance of a class, with its number of rows as
// the divisor. It is zero for a class with fewer than two rows. mean is the
// class' row of Means.
func (g *Gaussians) Covariance(class int, mean []float64) *mat.SymDense {
	d := len(mean)
	n := g.counts[class]
	if n < 2 {
		return mat.NewSymDense(d, nil)
	}
	var covariance mat.Dense
	covariance.Scale(1/float64(n), g.scatters[class])
	from := mat.NewVecDense(d, floats.SubTo(make([]float64, d), mean, g.origins[class]))
	covariance.RankOne(&covariance, -1, from, from)
	return eigen.Symmetrised(&covariance)
}

// Moments returns the means and covariances of all classes.
func (g *Gaussians) Moments() Moments {
	m := g.Prototypes.Moments()
	m.Covariances = make([]*mat.SymDense, len(g.counts))
	for k := range m.Covariances {
		m.Covariances[k] = g.Covariance(k, m.Means.RawRowView(k))
	}
	return m
}
