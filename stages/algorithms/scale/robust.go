package scale

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
)

// FitRobust is Fit with the median as Mean and the interquartile range as Deviation, as in
// scikit-learn's RobustScaler: a few values far outside move neither. A column that varies
// where its middle half is one value is divided by 1.
func FitRobust(ctx context.Context, x blas32.General) (s Standard, constant []int, err error) {
	s = Standard{Mean: make([]float64, x.Cols), Deviation: make([]float64, x.Cols)}
	err = eachColumn(ctx, x, func(j int, sorted []float32) {
		s.Mean[j] = quantile(sorted, 0.5)
		if sorted[0] == sorted[len(sorted)-1] {
			constant = append(constant, j)
			return
		}
		s.Deviation[j] = quantile(sorted, 0.75) - quantile(sorted, 0.25)
		if s.Deviation[j] == 0 {
			s.Deviation[j] = 1
		}
	})
	return s, constant, err
}

// eachColumn calls f with the sorted values of every column of x. It panics if x has no rows.
func eachColumn(ctx context.Context, x blas32.General, f func(j int, sorted []float32)) error {
	if x.Rows == 0 {
		panic("scale: no rows")
	}
	values := make([]float32, x.Rows)
	for j := range x.Cols {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i := range values {
			values[i] = x.Data[i*x.Stride+j]
		}
		slices.Sort(values)
		f(j, values)
	}
	return nil
}

// quantile is the value that lies a share of the way through sorted ones, in numpy's
// arithmetic: where it rounds, a quantile is a value or just beside it, and whether it ties
// with others decides what a rank is.
func quantile(sorted []float32, share float64) float64 {
	at := share * float64(len(sorted)-1)
	k := min(int(at), len(sorted)-1)
	low, high := float64(sorted[k]), float64(sorted[min(k+1, len(sorted)-1)])
	t, width := at-float64(k), high-low
	if t >= 0.5 {
		return high - float64(width*(1-t)) // the conversions keep a processor from rounding once
	}
	return low + float64(width*t)
}
