// Package scale standardises feature columns to mean 0 and standard deviation
// 1, with the moments of one set of rows (the source, or each domain's own)
// kept as plain slices so that they can be saved and applied to other rows.
package scale

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
)

// A Standard is the affine map x[j] → (x[j] − Mean[j]) / Deviation[j] of each
// of d columns.
type Standard struct {
	Mean      []float64
	Deviation []float64 // > 0
}

// Fit takes the moments of the columns of x (n×d, n ≥ 1). The deviation is that
// of the population (divisor n), as scikit-learn's StandardScaler has it. A
// column with one value in all rows has no scale: its Deviation is 1, so that
// it becomes 0 there, and its index is in constant, for the caller to report.
func Fit(x blas32.General) (s Standard, constant []int) {
	if x.Rows == 0 {
		panic("scale: no rows")
	}
	s.Mean = columnMeans(x)
	s.Deviation = make([]float64, x.Cols)
	varies := make([]bool, x.Cols)
	first := x.Data[:x.Cols]
	for i := range x.Rows {
		for j, v := range x.Data[i*x.Stride : i*x.Stride+x.Cols] {
			d := float64(v) - s.Mean[j]
			s.Deviation[j] += d * d
			varies[j] = varies[j] || v != first[j]
		}
	}
	for j := range s.Deviation {
		if !varies[j] {
			s.Mean[j], s.Deviation[j] = float64(first[j]), 1
			constant = append(constant, j)
			continue
		}
		s.Deviation[j] = math.Sqrt(s.Deviation[j] / float64(x.Rows))
	}
	return s, constant
}

func columnMeans(x blas32.General) []float64 {
	mean := make([]float64, x.Cols)
	for i := range x.Rows {
		for j, v := range x.Data[i*x.Stride : i*x.Stride+x.Cols] {
			mean[j] += float64(v)
		}
	}
	for j := range mean {
		mean[j] /= float64(x.Rows)
	}
	return mean
}

// Check says whether s can be applied to rows of d columns: read from a file,
// it may be damaged or belong to other data.
func (s Standard) Check(d int) error {
	if len(s.Mean) != len(s.Deviation) {
		return fmt.Errorf("standardisation: %d means but %d deviations: fit it again", len(s.Mean), len(s.Deviation))
	}
	if len(s.Mean) != d {
		return fmt.Errorf("standardisation: fitted to %d features, the data have %d: apply it to the features it was fitted to", len(s.Mean), d)
	}
	for j := range s.Mean {
		if math.IsNaN(s.Mean[j]) || math.IsInf(s.Mean[j], 0) || !(s.Deviation[j] > 0) || math.IsInf(s.Deviation[j], 0) {
			return fmt.Errorf("standardisation: feature %d has mean %v and deviation %v: fit it again", j, s.Mean[j], s.Deviation[j])
		}
	}
	return nil
}

// Apply standardises the rows of x in place. A result too large for float32,
// from a row far outside the range s was fitted on, is an error that names it.
// It panics if x has another number of columns.
func (s Standard) Apply(x blas32.General) error {
	if x.Cols != len(s.Mean) {
		panic("scale: number of columns differs")
	}
	for i := range x.Rows {
		row := x.Data[i*x.Stride : i*x.Stride+x.Cols]
		for j, v := range row {
			z := float32((float64(v) - s.Mean[j]) / s.Deviation[j])
			if math.IsInf(float64(z), 0) {
				return fmt.Errorf("row %d, feature %d: %v lies %v deviations off the mean, too far for float32: drop the row or the feature",
					i, j, v, (float64(v)-s.Mean[j])/s.Deviation[j])
			}
			row[j] = z
		}
	}
	return nil
}
