package transport

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"
)

// Prototypes sums the rows of each class, batch by batch, for their means. Its
// memory does not depend on the number of rows.
type Prototypes struct {
	sums   *mat.Dense // C×d
	counts []int
}

// NewPrototypes returns an empty sum for rows of d values in C classes.
func NewPrototypes(classes, d int) *Prototypes {
	return &Prototypes{sums: mat.NewDense(classes, d, nil), counts: make([]int, classes)}
}

// addedRows is how many rows are added between two checks of the context, and
// how many are converted to float64 at a time.
const addedRows = 256

// Add adds the rows of x (n×d) with their labels. Rows with a negative label
// have no class and are left out. It fails if a label is C or more and returns
// ctx.Err() if ctx ends; the sums are then not usable. It panics if the shapes
// do not fit.
func (p *Prototypes) Add(ctx context.Context, x blas32.General, labels []int32) error {
	classes, d := p.sums.Dims()
	if x.Cols != d || len(labels) != x.Rows {
		panic("transport: Prototypes.Add: rows differ in width or number from what is expected")
	}
	for i, l := range labels {
		if i%addedRows == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if int(l) >= classes {
			return fmt.Errorf("transport: row %d has label %d: labels go from 0 to %d", i, l, classes-1)
		}
		if l < 0 {
			continue
		}
		p.counts[l]++
		sum := p.sums.RawRowView(int(l))
		for j, v := range x.Data[i*x.Stride : i*x.Stride+d] {
			sum[j] += float64(v)
		}
	}
	return nil
}

// Means returns the C×d means. The mean of a class without rows is zero.
func (p *Prototypes) Means() *mat.Dense {
	means := mat.DenseCopyOf(p.sums)
	for i, n := range p.counts {
		mean := means.RawRowView(i)
		for j := range mean {
			mean[j] /= float64(max(n, 1))
		}
	}
	return means
}

// Counts returns the number of rows of each class.
func (p *Prototypes) Counts() []int { return append([]int(nil), p.counts...) }

// Moments returns the means of all classes, without covariances.
func (p *Prototypes) Moments() Moments { return Moments{Means: p.Means(), Counts: p.Counts()} }

// Moments are the moments of the classes of one domain, or of its components.
type Moments struct {
	Means       *mat.Dense      // C×d
	Counts      []int           // rows of each class
	Covariances []*mat.SymDense // C of d×d; nil if they are not known
}

// squares returns the squared distances of the means of m to those of other.
func (m Moments) squares(ctx context.Context, other Moments) (*mat.Dense, error) {
	return squaredDistances(ctx, m.Means, m.Counts, other.Means)
}

// present returns the moments of the classes that have rows.
func (m Moments) present() Moments {
	_, d := m.Means.Dims()
	p := Moments{}
	var means []float64
	for k, n := range m.Counts {
		if n == 0 {
			continue
		}
		p.Counts, means = append(p.Counts, n), append(means, m.Means.RawRowView(k)...)
		if m.Covariances != nil {
			p.Covariances = append(p.Covariances, m.Covariances[k])
		}
	}
	p.Means = mat.NewDense(len(p.Counts), d, means)
	return p
}
