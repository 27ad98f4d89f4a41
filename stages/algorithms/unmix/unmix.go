// Package unmix says what rows are made of that are mixtures of the classes: wells or spots with
// several cells, pixels with several materials. A row is the sum of the classes' means, each times
// its share, and errors. Where values are amounts of many things (see amounts) errors are in
// proportion to them, and the shares are those of robust least squares. Elsewhere errors have the
// covariance within the classes; the shares are those of least
// squares under that covariance, none below 0, of sum 1. This is fully constrained linear unmixing
// (Heinz and Chang, IEEE Transactions on Geoscience and Remote Sensing 39 (2001) 529), in biology
// reference-based deconvolution. It adapts nothing: the classes have to look as in the source.
package unmix

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/discriminant"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/scale"
	"mars.dev/mars/stages/algorithms/transport"
)

// Method is what the way to label is called.
const Method = "unmix"

// Assumes is what has to be said of each answer.
const Assumes = "each row is taken for a mixture of classes that look as they do in the source: nothing in the target shows whether they do"

// OfAmounts has to be said where values are taken for amounts.
const OfAmounts = "values are taken for amounts, which add up in mixtures, as none of the source is below 0: logarithms have to be undone first"

// A Model has what it takes to unmix rows of d values into C classes. Its methods do not change it
// and may be called from several goroutines.
type Model struct {
	Classes     []string
	Proportions []float64 // of the classes in the target: see Together; nil before it is known
	adapt.Use

	amounts  *amounts // nil where values are others; then there are:
	standard scale.Standard
	weights  blas32.General // d×C: Σ⁻¹μ of each class, of standardised values
	gram     *mat.Dense     // C×C: μᵀΣ⁻¹μ
}

// Amounts tells whether values are taken for amounts.
func (m *Model) Amounts() bool { return m.amounts != nil }

const (
	// leastApart is the part of the largest spread of the classes' means below which their least is
	// rounding.
	leastApart = 1e-6
	// mostColumns have a covariance of half a gigabyte.
	mostColumns = 1 << 13
	grain       = 64 // rows
)

// Fit learns the classes of rows x (n×d), each of which must have a row. It fails if there are fewer
// than two, if a value is not finite, or if the means of C classes span fewer than C−1 dimensions, so
// that several mixtures are the same row. It panics if there is not one label a row.
func Fit(ctx context.Context, x blas32.General, labels []int32, classes []string) (*Model, error) {
	if len(classes) < 2 {
		return nil, fmt.Errorf("unmix: %d class: at least two can be mixed: give rows of more classes", len(classes))
	}
	if err := dense.CheckFinite("source", x, 0); err != nil {
		return nil, fmt.Errorf("unmix: %w", err)
	}
	m := &Model{Classes: classes}
	means := transport.NewPrototypes(len(classes), x.Cols)
	if areAmounts(x) {
		if err := means.Add(ctx, x, labels); err != nil {
			return nil, err
		}
		m.amounts = newAmounts(means.Means())
		m.gram = m.amounts.gram()
		return m, m.tellApart()
	}
	if x.Cols > mostColumns {
		return nil, fmt.Errorf("unmix: %d columns, of which some have values below 0, so that they are taken to be of any kind: at most %d of these are looked at: give fewer, or amounts before their logarithm was taken", x.Cols, mostColumns)
	}
	z := dense.Clone(x)
	var err error
	if m.standard, _, err = scale.Fit(ctx, z); err != nil {
		return nil, err
	}
	if err := m.standard.Apply(ctx, z); err != nil {
		return nil, err
	}
	linear, err := discriminant.Fit(ctx, z, labels, len(classes), discriminant.Options{Alike: true})
	if err != nil {
		return nil, fmt.Errorf("unmix: %w", err)
	}
	if err := means.Add(ctx, z, labels); err != nil {
		return nil, err
	}
	m.weights = linear.Weights
	m.gram = m.products(means.Means())
	return m, m.tellApart()
}

// products are those of the weights and the means, which are symmetric but for rounding.
func (m *Model) products(means *mat.Dense) *mat.Dense {
	classes, d := means.Dims()
	weights := mat.NewDense(d, classes, nil)
	for i, w := range m.weights.Data {
		weights.RawMatrix().Data[i] = float64(w)
	}
	var g, both mat.Dense
	g.Mul(means, weights)
	both.Add(&g, g.T())
	both.Scale(.5, &both)
	return &both
}

// tellApart fails if several mixtures of the classes are the same row.
func (m *Model) tellApart() error {
	classes := len(m.Classes)
	about := mat.NewSymDense(classes, nil) // the products of the means less their mean
	level := mat.Sum(m.gram) / float64(classes*classes)
	of := make([]float64, classes)
	for k := range of {
		of[k] = dense.Sum(m.gram.RawRowView(k)) / float64(classes)
	}
	for a := range classes {
		for b := a; b < classes; b++ {
			about.SetSym(a, b, m.gram.At(a, b)-of[a]-of[b]+level)
		}
	}
	var e mat.EigenSym
	if !e.Factorize(about, false) {
		return fmt.Errorf("unmix: the means of the %d classes cannot be told apart: scale the features down", classes)
	}
	values := e.Values(nil) // ascending; the first is 0
	if most := values[classes-1]; !(values[1] > leastApart*most) {
		return fmt.Errorf("unmix: the means of the %d classes span fewer than %d dimensions, so that several mixtures of them are the same row: give more columns, or fewer classes", classes, classes-1)
	}
	return nil
}

// Width returns the number d of values of a row.
func (m *Model) Width() int {
	if m.amounts != nil {
		return m.amounts.width
	}
	return m.weights.Rows
}

// Predict returns the shares of the classes in each of the rows of x (n×d), n×C. It returns an error if the source
// has amounts and a row of x has less than 0, ctx.Err() if ctx ends, and panics if x has another width.
func (m *Model) Predict(ctx context.Context, x blas32.General) (blas32.General, error) {
	if x.Cols != m.Width() {
		panic("unmix: model and rows differ in width")
	}
	classes := len(m.Classes)
	p := dense.New(x.Rows, classes)
	if x.Rows == 0 {
		return p, nil
	}
	if m.amounts != nil {
		return p, m.amounts.predict(ctx, x, p)
	}
	z := dense.Clone(x)
	if err := m.standard.Apply(ctx, z); err != nil {
		return p, err
	}
	kernel.Gemm(false, false, 1, z, m.weights, 0, p)
	return p, kernel.Each((x.Rows+grain-1)/grain, func(part int) error {
		h := make([]float64, classes)
		for i := part * grain; i < min((part+1)*grain, x.Rows); i++ {
			row := dense.Row(p, i)
			for k, v := range row {
				h[k] = float64(v)
			}
			shares, err := labelshift.SimplexQuadratic(m.gram, h, nil)
			if err != nil {
				return fmt.Errorf("unmix: row %d: %w", i+1, err)
			}
			for k, s := range shares {
				row[k] = float32(s)
			}
		}
		return ctx.Err()
	})
}

// Decide leaves shares as they are: they are no posteriors.
func (m *Model) Decide(blas32.General) error { return nil }

// Together returns the shares of the classes in all rows of x (n×d, n ≥ 1): those of their mean, in which the
// noise of the rows is little. The mean of the rows' own shares would be drawn to the middle by it, as none
// is below 0. It returns the errors of Predict.
func (m *Model) Together(ctx context.Context, x blas32.General) ([]float64, error) {
	if m.amounts != nil {
		if err := checkAmounts(x); err != nil {
			return nil, err
		}
	}
	return m.together(ctx, x)
}

// together is Together of rows that have been looked at.
func (m *Model) together(ctx context.Context, x blas32.General) ([]float64, error) {
	mean := dense.New(1, x.Cols)
	for j, v := range dense.ColumnMeans(x) {
		mean.Data[j] = float32(v)
	}
	p, err := m.Predict(ctx, mean)
	return dense.ColumnMeans(p), err
}
