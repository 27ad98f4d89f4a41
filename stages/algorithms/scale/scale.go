// Package scale standardises feature columns to mean 0 and standard deviation
// 1, with the moments of one set of rows (the source, or each domain's own)
// kept as plain slices so that they can be saved and applied to other rows.
package scale

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"mars/stages/algorithms/internal/dense"
)

// A Standard is the affine map x[j] → (x[j] − Mean[j]) / Deviation[j] of each
// of d columns. A column of Deviation 0 had one value in all rows that Fit saw:
// it has no scale and says nothing of those rows, so it becomes 0 in every row.
type Standard struct {
	Mean      []float64
	Deviation []float64 // ≥ 0
}

// Fit takes the moments of the columns of x (n×d, n ≥ 1). The deviation is that
// of the population (divisor n), as scikit-learn's StandardScaler has it. The
// indices of columns with one value in all rows are in constant, for the caller
// to report.
func Fit(x blas32.General) (s Standard, constant []int) {
	if x.Rows == 0 {
		panic("scale: no rows")
	}
	s.Mean = dense.ColumnMeans(x)
	s.Deviation = make([]float64, x.Cols)
	varies := make([]bool, x.Cols)
	first := x.Data[:x.Cols]
	for i := range x.Rows {
		for j, v := range dense.Row(x, i) {
			d := float64(v) - s.Mean[j]
			s.Deviation[j] += d * d
			varies[j] = varies[j] || v != first[j]
		}
	}
	for j := range s.Deviation {
		if !varies[j] {
			s.Mean[j], s.Deviation[j] = float64(first[j]), 0
			constant = append(constant, j)
			continue
		}
		s.Deviation[j] = math.Sqrt(s.Deviation[j] / float64(x.Rows))
	}
	return s, constant
}

// Scales returns what each column is multiplied by after its mean is taken away:
// 1/Deviation, or 0.
func (s Standard) Scales() []float64 {
	scales := make([]float64, len(s.Deviation))
	for j, d := range s.Deviation {
		if d > 0 {
			scales[j] = 1 / d
		}
	}
	return scales
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
		if math.IsNaN(s.Mean[j]) || math.IsInf(s.Mean[j], 0) || !(s.Deviation[j] >= 0) || math.IsInf(s.Deviation[j], 0) {
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
		row := dense.Row(x, i)
		for j, v := range row {
			if s.Deviation[j] == 0 {
				row[j] = 0
				continue
			}
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
