// Package discriminant is linear discriminant analysis (Fisher 1936; Rao 1948): each class is a
// Gaussian, and all share one covariance. It is learnt from moments, in one pass, and is what can
// be learnt of many classes with few rows each.
package discriminant

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
	"mars.dev/mars/stages/algorithms/logistic"
)

// Options of a fit. The zero value is usable.
type Options struct {
	// Temperature divides what the rows say of a class: the covariance counts so many times.
	// 0 means 1.
	Temperature float64
	// Alike gives all classes that have rows the same prior; otherwise each has its share of
	// the rows.
	Alike bool
}

const (
	// ridge is added to the covariance, in units of its mean variance.
	ridge     = 1e-2
	blockRows = 1024
	// absentBias is the logit of a class without rows.
	absentBias = -30
)

// Fit learns the model of rows x (n×d) with labels from 0 to classes−1, of which any may have no
// rows. Where no class has two different rows the covariance is that of all rows. It fails if there
// are no rows or a value is not finite, panics if there is not one label a row, and returns
// ctx.Err() if ctx ends.
func Fit(ctx context.Context, x blas32.General, labels []int32, classes int, o Options) (*logistic.Model, error) {
	if len(labels) != x.Rows {
		panic("discriminant: one label a row is needed")
	}
	if x.Rows == 0 || x.Cols == 0 {
		return nil, errors.New("discriminant: there are no rows or no columns: give labelled rows")
	}
	if err := dense.CheckFinite("source", x, 0); err != nil {
		return nil, fmt.Errorf("discriminant: %w", err)
	}
	m := newMoments(x, labels, classes)
	covariance, err := m.covariance(ctx, x, labels)
	if err != nil {
		return nil, err
	}
	if o.Temperature > 0 {
		covariance.ScaleSym(o.Temperature, covariance)
	}
	return m.model(covariance, o.Alike)
}

// moments are the counts and the means of the classes, and the mean of all rows.
type moments struct {
	rows   float64
	counts []float64  // C
	means  *mat.Dense // C×d, less mean
	mean   []float64  // d
}

func newMoments(x blas32.General, labels []int32, classes int) *moments {
	m := &moments{rows: float64(x.Rows), counts: make([]float64, classes), means: mat.NewDense(classes, x.Cols, nil), mean: dense.ColumnMeans(x)}
	for i, y := range labels {
		m.counts[y]++
		sums := m.means.RawRowView(int(y))
		for j, v := range dense.Row(x, i) {
			sums[j] += float64(v) - m.mean[j]
		}
	}
	for k, n := range m.counts {
		if n > 0 {
			floats.Scale(1/n, m.means.RawRowView(k))
		}
	}
	return m
}

// covariance is that within the classes, with a ridge.
func (m *moments) covariance(ctx context.Context, x blas32.General, labels []int32) (*mat.SymDense, error) {
	d := x.Cols
	within, all, block := mat.NewDense(d, d, nil), make([]float64, d), dense.New64(blockRows, d)
	for lo := 0; lo < x.Rows; lo += blockRows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		block.Rows = min(blockRows, x.Rows-lo)
		for i := range block.Rows {
			own := m.means.RawRowView(int(labels[lo+i]))
			for j, v := range dense.Row(x, lo+i) {
				v := float64(v) - m.mean[j]
				all[j] += v * v
				block.Data[i*d+j] = v - own[j]
			}
		}
		kernel.Gemm64(true, false, 1, block, block, 1, within.RawMatrix())
	}
	freedom := m.rows
	for _, n := range m.counts {
		if n > 0 {
			freedom--
		}
	}
	s := mat.NewSymDense(d, nil)
	if trace := mat.Trace(within); freedom > 0 && trace > leastWithin*floats.Sum(all) {
		for a := range d {
			for b := a; b < d; b++ {
				s.SetSym(a, b, within.At(a, b)/freedom)
			}
		}
	} else {
		for j, v := range all {
			s.SetSym(j, j, v/m.rows)
		}
	}
	more := ridge*mat.Trace(s)/float64(d) + math.SmallestNonzeroFloat32
	for j := range d {
		s.SetSym(j, j, s.At(j, j)+more)
	}
	return s, nil
}

// leastWithin is the part of the scatter below which that within the classes is rounding.
const leastWithin = 1e-9

// model has the logits μᵀΣ⁻¹x − ½μᵀΣ⁻¹μ + log prior, with x and μ less the mean of all rows.
func (m *moments) model(covariance *mat.SymDense, alike bool) (*logistic.Model, error) {
	classes, d := m.means.Dims()
	var factor mat.Cholesky
	var solved mat.Dense // d×C
	if !factor.Factorize(covariance) {
		return nil, errors.New("discriminant: the covariance is singular: scale the features down")
	}
	if err := factor.SolveTo(&solved, m.means.T()); err != nil && !dense.IsCondition(err) {
		return nil, fmt.Errorf("discriminant: %w", err)
	}
	l := &logistic.Model{Weights: dense.New(d, classes), Bias: make([]float32, classes)}
	for k, n := range m.counts {
		if n == 0 {
			l.Bias[k] = absentBias
			continue
		}
		bias := 0.0
		if !alike {
			bias = math.Log(n / m.rows)
		}
		for j, mean := range m.means.RawRowView(k) {
			w := solved.At(j, k)
			bias -= w * (m.mean[j] + mean/2)
			l.Weights.Data[j*classes+k] = float32(w)
		}
		l.Bias[k] = float32(bias)
	}
	return l, nil
}
