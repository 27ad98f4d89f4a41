package transport

import (
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mars/stages/algorithms/internal/kernel"
)

// Gaussians adds up the rows of each class, batch by batch, for their means
// and covariances. It takes (C+1)·d² numbers, and no more for more rows.
type Gaussians struct {
	*Prototypes
	// Of each class, the first row and the scatter of the others around it:
	// near enough to the mean that nothing is lost when that is taken off.
	origins  [][]float64
	scatters []*mat.Dense
}

// NewGaussians returns an empty sum for rows of d values in C classes.
func NewGaussians(classes, d int) *Gaussians {
	return &Gaussians{Prototypes: NewPrototypes(classes, d), origins: make([][]float64, classes), scatters: make([]*mat.Dense, classes)}
}

// Add is Prototypes.Add.
func (g *Gaussians) Add(x blas32.General, labels []int32) error {
	if err := g.Prototypes.Add(x, labels); err != nil {
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
				g.addScatter(k, x, members[k])
			}
		}
	})
	return nil
}

// scatterRows is how many rows are widened to float64 at a time.
const scatterRows = 256

// addScatter adds the given rows of x to class k.
func (g *Gaussians) addScatter(k int, x blas32.General, rows []int) {
	d := x.Cols
	if g.origins[k] == nil {
		g.origins[k], g.scatters[k] = make([]float64, d), mat.NewDense(d, d, nil)
		for j, v := range x.Data[rows[0]*x.Stride:][:d] {
			g.origins[k][j] = float64(v)
		}
	}
	block := blas64.General{Cols: d, Stride: d, Data: make([]float64, min(len(rows), scatterRows)*d)}
	for ; len(rows) > 0; rows = rows[block.Rows:] {
		block.Rows = min(len(rows), scatterRows)
		for i, at := range rows[:block.Rows] {
			out := block.Data[i*d:][:d]
			for j, v := range x.Data[at*x.Stride:][:d] {
				out[j] = float64(v) - g.origins[k][j]
			}
		}
		kernel.Gemm64(true, false, 1, block, block, 1, g.scatters[k].RawMatrix())
	}
}

// Covariance returns the d×d covariance of a class, divided by its number of
// rows; zero for a class with fewer than two. mean is the class' row of Means.
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
	return symmetrised(&covariance)
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
