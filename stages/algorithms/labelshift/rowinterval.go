package labelshift

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/eigen"
)

// RowIntervalOptions are the options of RowInterval. The zero value is usable.
type RowIntervalOptions struct {
	Level float64 // of each interval; 0 means 0.9
	// Weights are those that EM was given; nil counts each row once.
	Weights []float64
	// Model is the variance of each share for which not the rows but the model is to
	// blame, C values; nil: none is known.
	Model []float64
}

// A RowInterval says how far the shares of rows may be from what EM found.
type RowInterval struct {
	Level float64
	// Lower and Upper bound each class' share, C values from 0 to 1.
	Lower, Upper []float64
	// Deviation is the standard deviation of each share, of rows and model.
	Deviation []float64
	// ExpectedError is the L1 error, 0 to 2, to expect of normal errors of Deviation.
	ExpectedError float64
}

// NewRowInterval puts bounds around proportions that EM has found in posteriors (n×C)
// which carry the source's proportions. It is quick, and honest for few rows, which the
// bootstrap and the normal approximation are not: of one class in ten rows they say that
// nothing else can be there.
//
// The variance of a share p of n rows is p(1−p)/n, as of rows of known class, and what
// the doubt about their classes adds. The latter is found from the inverse of the information
// (Fisher's, as observed) at proportions to which half a row a class has been added. The
// interval holds the p that are within z deviations of the estimate, each with its own
// variance: Wilson's (1927) where classes are certain. A class that the posteriors do not
// tell from another has an interval from about 0 to 1. Model's variance widens it by the
// root of the sum of squares.
//
// It panics if shapes differ.
func NewRowInterval(posteriors blas32.General, source, proportions []float64, o RowIntervalOptions) (*RowInterval, error) {
	classes := posteriors.Cols
	if len(source) != classes || len(proportions) != classes || o.Weights != nil && len(o.Weights) != posteriors.Rows || o.Model != nil && len(o.Model) != classes {
		panic("labelshift: NewRowInterval: shapes differ")
	}
	if o.Level == 0 {
		o.Level = 0.9
	}
	if !(o.Level > 0 && o.Level < 1) || posteriors.Rows == 0 {
		return nil, fmt.Errorf("labelshift: an interval of level %v of %d rows: give a level between 0 and 1, and a row", o.Level, posteriors.Rows)
	}
	n := effectiveRows(posteriors.Rows, o.Weights)
	center := make([]float64, classes) // with half a row a class
	present := 0.0
	for _, p := range source {
		if p > 0 {
			present++
		}
	}
	for k, p := range proportions {
		if source[k] > 0 {
			center[k] = (n*p + 0.5) / (n + present/2)
		}
	}
	variances := shareVariances(posteriors, source, center, o.Weights)
	z := distuv.UnitNormal.Quantile((1 + o.Level) / 2)
	v := &RowInterval{Level: o.Level, Lower: make([]float64, classes), Upper: make([]float64, classes), Deviation: make([]float64, classes)}
	for k, p := range proportions {
		low, high := scoreInterval(p, n, max(0, variances[k]-center[k]*(1-center[k])/n), z)
		deviation := (high - low) / (2 * z)
		if o.Model != nil {
			extra := z * z * o.Model[k]
			low, high = p-math.Sqrt((p-low)*(p-low)+extra), p+math.Sqrt((high-p)*(high-p)+extra)
			deviation = math.Sqrt(deviation*deviation + o.Model[k])
		}
		if source[k] == 0 { // nothing is known of it
			low, high = 0, 1
		}
		v.Lower[k], v.Upper[k], v.Deviation[k] = max(0, low), min(1, high), deviation
		v.ExpectedError += math.Sqrt(2/math.Pi) * deviation
	}
	v.ExpectedError = min(2, v.ExpectedError)
	return v, nil
}

// scoreInterval bounds the p with (share − p)² ≤ z²(p(1−p)/n + doubt).
func scoreInterval(share, n, doubt, z float64) (low, high float64) {
	a := 1 + z*z/n
	b := share + z*z/(2*n)
	root := math.Sqrt(max(0, b*b-a*(share*share-z*z*doubt)))
	return max(0, min(share, (b-root)/a)), min(1, max(share, (b+root)/a))
}

// effectiveRows is how many rows of one weight are worth as much as weighted ones (Kish).
func effectiveRows(rows int, weights []float64) float64 {
	if weights == nil {
		return float64(rows)
	}
	var sum, squares float64
	for _, w := range weights {
		sum, squares = sum+w, squares+w*w
	}
	return sum * sum / squares
}

// shareVariances is the diagonal of the inverse of the information of the shares, which
// sum to 1: C values. Directions of which the rows say nothing get the variance 1.
func shareVariances(x blas32.General, source, center, weights []float64) []float64 {
	classes := x.Cols
	inverse := ratios(slices.Repeat([]float64{1}, classes), source) // 1/source, 0 where that is 0
	info := mat.NewSymDense(classes, nil)
	ratio := make([]float64, classes)
	scale := 1.0
	if weights != nil {
		scale = effectiveRows(x.Rows, weights) / dense.Sum(weights)
	}
	raw := info.RawSymmetric().Data
	for i := range x.Rows {
		total := 0.0
		for k, p := range dense.Row(x, i) {
			ratio[k] = float64(p) * inverse[k]
			total += ratio[k] * center[k]
		}
		w := scale / (total * total)
		if weights != nil {
			w *= weights[i]
		}
		for k, r := range ratio {
			if wr := w * r; wr != 0 {
				row := raw[k*classes:]
				for l := k; l < classes; l++ {
					row[l] += wr * ratio[l]
				}
			}
		}
	}
	return constrainedInverse(info, center)
}

// constrainedInverse is the diagonal of B(BᵀIB)⁻¹Bᵀ, where the columns of B are an
// orthonormal base of what sums to 0 among the classes whose center is not 0.
func constrainedInverse(info *mat.SymDense, center []float64) []float64 {
	var present []int
	for k, c := range center {
		if c > 0 {
			present = append(present, k)
		}
	}
	variances := make([]float64, len(center))
	m := len(present)
	if m < 2 {
		return variances
	}
	base := mat.NewDense(m, m-1, nil) // Helmert's
	for j := range m - 1 {
		norm := math.Sqrt(float64((j + 1) * (j + 2)))
		for i := range j + 1 {
			base.Set(i, j, 1/norm)
		}
		base.Set(j+1, j, -float64(j+1)/norm)
	}
	some := mat.NewSymDense(m, nil)
	for i, k := range present {
		for j := i; j < m; j++ {
			some.SetSym(i, j, info.At(k, present[j]))
		}
	}
	var half, reduced mat.Dense
	half.Mul(some, base)
	reduced.Mul(base.T(), &half)
	var solved mat.EigenSym
	if !solved.Factorize(eigen.Symmetrised(&reduced), true) {
		for _, k := range present {
			variances[k] = 1
		}
		return variances
	}
	var vectors, directions mat.Dense
	solved.VectorsTo(&vectors)
	directions.Mul(base, &vectors)
	for j, value := range solved.Values(nil) {
		variance := 1.0 // no share is farther off
		if value > 1 {
			variance = 1 / value
		}
		for i, k := range present {
			d := directions.At(i, j)
			variances[k] += d * d * variance
		}
	}
	return variances
}
