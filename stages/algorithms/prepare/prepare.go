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
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/affine"
	"mars.dev/mars/stages/algorithms/internal/dense"
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
func (p *Map) Width() int { return p.affine().Width() }

// affine is what is done to rows of the kept columns. Principal components are not clipped.
func (p *Map) affine() *affine.Map {
	clip := float64(clipping)
	if p.Together {
		clip = math.Inf(1)
	}
	return &affine.Map{Mean: p.Mean, Scale: p.Scale, Clip: clip, Axes: p.Axes, Shift: p.Origin}
}

// Apply returns the rows of x (n×d) mapped, n×Width. It panics if the number of
// columns differs.
func (p *Map) Apply(x blas32.General) blas32.General {
	if x.Cols != p.Columns {
		panic("prepare: number of columns differs")
	}
	return p.affine().Apply(x, p.pick)
}
