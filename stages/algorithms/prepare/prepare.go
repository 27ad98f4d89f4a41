// Package prepare maps the columns of any table to features that distances and
// networks can work with. The map is learnt from the source alone:
//
//   - Columns with one value in all rows, up to rounding, are dropped. So are columns of few
//     values that are another one but for scale and offset, as one of the two that a category of
//     two values becomes: it says nothing more, and distances would count the category twice.
//   - Sparse counts (more than 200 columns, none negative, more than half of the
//     values 0) become log(1 + count), and then rows get length 1.
//   - Columns are standardised. The deviation of a column with few values, at most
//     10 in the first 300 rows, counts as at least a third of its range, so that a
//     rare value is not an outlier.
//   - Values are cut off at 8 deviations.
//   - Principal components keep their proportions: columns whose deviations fall from
//     the first to the last are divided by the mean of their deviations, and nothing
//     is cut off. Standardised, the last ones would be as loud as the first, and they
//     are mostly noise.
//   - More than 100 columns become 100 principal components, divided by the mean of
//     their deviations. They are found by randomised subspace iteration (Halko,
//     Martinsson & Tropp 2011).
package prepare

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
	"mars.dev/mars/stages/algorithms/scale"
)

const (
	clipping     = 8    // deviations
	fewValues    = 10   // a column of at most this number of values has few
	countedRows  = 300  // rows in which values are counted
	sparseWidth  = 200  // columns above which counts may be sparse
	maxAxes      = 100  // principal components
	alike        = 1e-5 // of its range, up to which values of a column are one
	minDeviation = 1e-7 // relative to the greatest value, below which a column is constant
	blockRows    = 256  // rows that are mapped at a time
)

// A Map takes rows of d values to rows of Width values. Its methods do
// not change it.
type Map struct {
	Columns int       // d
	Kept    []int     // columns that are used
	Counts  bool      // whether values are sparse counts
	Mean    []float64 // of the kept columns
	Scale   []float64 // what they are multiplied by
	// Together says that the columns are principal components, which share a scale.
	Together bool
	// Axes maps len(Kept) columns to q principal components, to which Origin (q) is
	// added; both are nil without. Its values are those of float32, as in a file.
	Axes   *mat.Dense
	Origin []float64
}

// Fit learns the map from the source's rows (n×d). seed draws what the search for
// principal components starts from. It fails if there are no rows, a value is not
// finite or all columns are constant. The end of ctx ends it.
func Fit(ctx context.Context, x blas32.General, seed uint64) (*Map, error) {
	if x.Rows == 0 {
		return nil, errors.New("prepare: there are no rows: give source rows")
	}
	if err := dense.CheckFinite("source", x, 0); err != nil {
		return nil, fmt.Errorf("prepare: %w", err)
	}
	p := &Map{Columns: x.Cols, Kept: distinct(x, varying(x))}
	if len(p.Kept) == 0 {
		return nil, errAlike
	}
	p.Counts = sparse(x, p.Kept)
	kept := p.pick(x)
	standard, _, err := scale.Fit(ctx, kept)
	if err != nil {
		return nil, err
	}
	p.Mean = standard.Mean
	if p.Together = fall(standard.Deviation); p.Together {
		share(standard.Deviation)
	} else {
		widen(standard.Deviation, kept)
	}
	p.Scale = standard.Scales()
	if len(p.Kept) <= maxAxes {
		return p, nil
	}
	if err := p.reduce(ctx, kept, seed); err != nil {
		return nil, err
	}
	return p, nil
}

var errAlike = errors.New("prepare: all source rows are equal: give features that tell the classes apart")

// Width is the number of values of a mapped row.
func (p *Map) Width() int {
	if p.Axes != nil {
		_, q := p.Axes.Dims()
		return q
	}
	return len(p.Kept)
}

// standardise writes the standardised rows of x to z, clipped unless they are principal
// components.
func (p *Map) standardise(z blas64.General, x blas32.General) {
	clip := float64(clipping)
	if p.Together {
		clip = math.Inf(1)
	}
	for i := range x.Rows {
		out := z.Data[i*z.Stride:][:x.Cols]
		for j, v := range dense.Row(x, i) {
			out[j] = max(-clip, min(clip, (float64(v)-p.Mean[j])*p.Scale[j]))
		}
	}
}

// Apply returns the rows of x (n×d) mapped, n×Width. It panics if the number of
// columns differs.
func (p *Map) Apply(x blas32.General) blas32.General {
	if x.Cols != p.Columns {
		panic("prepare: number of columns differs")
	}
	dst := dense.New(x.Rows, p.Width())
	kernel.Parallel((x.Rows+blockRows-1)/blockRows, 1, func(first, last int) {
		z := dense.New64(blockRows, len(p.Kept))
		for b := first; b < last; b++ {
			lo, hi := b*blockRows, min((b+1)*blockRows, x.Rows)
			p.block(dense.Rows(dst, lo, hi), dense.Rows(x, lo, hi), z)
		}
	})
	return dst
}

// block maps the rows of x to dst. z is scratch memory for them.
func (p *Map) block(dst, x blas32.General, z blas64.General) {
	z.Rows = x.Rows
	p.standardise(z, p.pick(x))
	if p.Axes != nil {
		mapped := dense.New64(x.Rows, dst.Cols)
		kernel.Gemm64(false, false, 1, z, p.Axes.RawMatrix(), 0, mapped)
		for i := range mapped.Rows {
			for j := range dst.Cols {
				mapped.Data[i*dst.Cols+j] += p.Origin[j]
			}
		}
		z = mapped
	}
	for i := range dst.Rows {
		for j, v := range z.Data[i*z.Stride:][:dst.Cols] {
			dst.Data[i*dst.Stride+j] = float32(v)
		}
	}
}
