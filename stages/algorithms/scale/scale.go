// Package scale standardises feature columns to mean 0 and standard deviation
// 1, by the moments of one set of rows: the source, or each domain separately.
// The moments are plain slices, so they can be saved and applied to other rows.
// Medians and interquartile ranges may take their place (FitRobust), and quantiles
// (FitQuantiles); a Transform goes before.
package scale

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
)

// A Standard is the affine map x[j] → (x[j] − Mean[j]) / Deviation[j] of each
// of d columns. A column of Deviation 0 had one value in all rows that Fit saw:
// it has no scale and says nothing of those rows, so it becomes 0 in every row.
type Standard struct {
	Mean      []float64 `json:"mean"`
	Deviation []float64 `json:"deviation"` // ≥ 0
}

// Fit returns the moments of the columns of x (n×d, n ≥ 1). The deviation is that
// of the population (divisor n), as in scikit-learn's StandardScaler. The indices
// of columns with one value in all rows are in constant, for the caller to report.
// Fit returns ctx.Err() if ctx ends, and panics if x has no rows.
func Fit(ctx context.Context, x blas32.General) (s Standard, constant []int, err error) {
	if x.Rows == 0 {
		panic("scale: no rows")
	}
	if s.Mean, err = columnMeans(ctx, x); err != nil {
		return s, nil, err
	}
	s.Deviation = make([]float64, x.Cols)
	varies := make([]bool, x.Cols)
	first := x.Data[:x.Cols]
	err = eachRow(ctx, x, func(_ int, row []float32) error {
		for j, v := range row {
			d := float64(v) - s.Mean[j]
			s.Deviation[j] += d * d
			varies[j] = varies[j] || v != first[j]
		}
		return nil
	})
	for j := range s.Deviation {
		if !varies[j] {
			s.Mean[j], s.Deviation[j] = float64(first[j]), 0
			constant = append(constant, j)
			continue
		}
		s.Deviation[j] = math.Sqrt(s.Deviation[j] / float64(x.Rows))
	}
	return s, constant, err
}

// leastDeviation is the least whose inverse is a float32.
const leastDeviation = 0x1p-126

// Scales returns what each column is multiplied by after its mean is taken away:
// 1/Deviation, or 0 if that is no float32: the column is as good as constant.
func (s Standard) Scales() []float64 {
	scales := make([]float64, len(s.Deviation))
	for j, d := range s.Deviation {
		if d >= leastDeviation {
			scales[j] = 1 / d
		}
	}
	return scales
}

func columnMeans(ctx context.Context, x blas32.General) ([]float64, error) {
	mean := make([]float64, x.Cols)
	err := eachRow(ctx, x, func(_ int, row []float32) error {
		for j, v := range row {
			mean[j] += float64(v)
		}
		return nil
	})
	for j := range mean {
		mean[j] /= float64(x.Rows)
	}
	return mean, err
}

// checkedValues is how many values are worked on between two checks of the
// context.
const checkedValues = 1 << 18

// eachRow calls f with every row of x, until f fails or ctx ends.
func eachRow(ctx context.Context, x blas32.General, f func(i int, row []float32) error) error {
	step := max(1, checkedValues/max(1, x.Cols))
	for lo := 0; lo < x.Rows; lo += step {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i := lo; i < min(lo+step, x.Rows); i++ {
			if err := f(i, x.Data[i*x.Stride:][:x.Cols]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Check returns an error if s cannot be applied to rows of d columns. If it was
// read from a file, it may be damaged or belong to other data.
func (s Standard) Check(d int) error {
	if len(s.Mean) != len(s.Deviation) {
		return fmt.Errorf("standardisation: %d means but %d deviations: fit it again", len(s.Mean), len(s.Deviation))
	}
	if len(s.Mean) != d {
		return fmt.Errorf("standardisation: fitted to %d features, the data have %d: apply it to the features it was fitted to", len(s.Mean), d)
	}
	for j := range s.Mean {
		if notFinite(s.Mean[j]) || !(s.Deviation[j] >= 0) || math.IsInf(s.Deviation[j], 0) {
			return fmt.Errorf("standardisation: feature %d has mean %v and deviation %v: fit it again", j, s.Mean[j], s.Deviation[j])
		}
	}
	return nil
}

// Apply standardises the rows of x (n×d) in place. It fails if a result is too
// large for float32, because a row is far outside the range that s was fitted
// to. It returns ctx.Err() if ctx ends; then x is partly standardised. It panics
// if x has another number of columns. NaN stays NaN.
func (s Standard) Apply(ctx context.Context, x blas32.General) error {
	if x.Cols != len(s.Mean) {
		panic("scale: number of columns differs")
	}
	return eachRow(ctx, x, func(i int, row []float32) error {
		for j, v := range row {
			if v != v {
				continue
			}
			if s.Deviation[j] == 0 {
				row[j] = 0
				continue
			}
			z := float32((float64(v) - s.Mean[j]) / s.Deviation[j])
			if math.IsInf(float64(z), 0) {
				return fmt.Errorf("row %d, feature %d: %v lies %v deviations off the mean, too far for float32: drop the row or the feature",
					i+1, j+1, v, (float64(v)-s.Mean[j])/s.Deviation[j])
			}
			row[j] = z
		}
		return nil
	})
}
