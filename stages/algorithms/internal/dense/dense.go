// Package dense holds small helpers on row-major matrices of float32 and on
// vectors of float64 that several algorithms need.
package dense

import (
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// New returns a rows×cols matrix of zeros.
func New(rows, cols int) blas32.General {
	return blas32.General{Rows: rows, Cols: cols, Stride: max(cols, 1), Data: make([]float32, rows*cols)}
}

// New64 returns a rows×cols matrix of zeros.
func New64(rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: max(cols, 1), Data: make([]float64, rows*cols)}
}

// Row returns row i of x. It shares the memory of x.
func Row(x blas32.General, i int) []float32 {
	return x.Data[i*x.Stride : i*x.Stride+x.Cols]
}

// Rows returns the rows [lo, hi) of x. They share the memory of x.
func Rows(x blas32.General, lo, hi int) blas32.General {
	end := max((hi-1)*x.Stride+x.Cols, lo*x.Stride)
	return blas32.General{Rows: hi - lo, Cols: x.Cols, Stride: x.Stride, Data: x.Data[lo*x.Stride : end]}
}

// Append adds a row to the end of x.
func Append(x *blas32.General, row []float32) {
	x.Data = append(x.Data, row...)
	x.Rows++
	x.Cols, x.Stride = len(row), max(len(row), 1)
}

// Gather copies the rows of x with the given indices, in their order.
func Gather[I int | int32](x blas32.General, index []I) blas32.General {
	y := New(len(index), x.Cols)
	for to, from := range index {
		copy(Row(y, to), Row(x, int(from)))
	}
	return y
}

// Pick copies the values with the given indices, in their order.
func Pick[T any](values []T, index []int) []T {
	some := make([]T, len(index))
	for to, from := range index {
		some[to] = values[from]
	}
	return some
}

// Clone copies x.
func Clone(x blas32.General) blas32.General {
	y := New(x.Rows, x.Cols)
	for i := range x.Rows {
		copy(Row(y, i), Row(x, i))
	}
	return y
}

// Argmax returns the index of the greatest value, the first of equals.
func Argmax[F float32 | float64](x []F) int {
	best := 0
	for k, v := range x {
		if v > x[best] {
			best = k
		}
	}
	return best
}

// ArgmaxRows returns the column of the greatest value of each row.
func ArgmaxRows(x blas32.General) []int32 {
	columns := make([]int32, x.Rows)
	for i := range columns {
		columns[i] = int32(Argmax(Row(x, i)))
	}
	return columns
}

// ColumnMeans returns the mean of each column of x, which has at least one row.
func ColumnMeans(x blas32.General) []float64 {
	mean := make([]float64, x.Cols)
	for i := range x.Rows {
		for j, v := range Row(x, i) {
			mean[j] += float64(v)
		}
	}
	for j := range mean {
		mean[j] /= float64(x.Rows)
	}
	return mean
}

// HasAtMost reports whether column j of x has n values or fewer.
func HasAtMost(n int, x blas32.General, j int) bool {
	values := map[float32]bool{}
	for i := range x.Rows {
		if values[x.Data[i*x.Stride+j]] = true; len(values) > n {
			return false
		}
	}
	return true
}

// Finite reports whether no value is NaN or infinite.
func Finite[F float32 | float64](values []F) bool {
	for _, v := range values {
		if v-v != 0 {
			return false
		}
	}
	return true
}

// CheckFinite reports the first value of x that is NaN or infinite. whose names
// the rows, and first is the number of the first of them.
func CheckFinite(whose string, x blas32.General, first int) error {
	for i := range x.Rows {
		for j, v := range Row(x, i) {
			if v-v != 0 {
				return fmt.Errorf("%s row %d, column %d is %v: remove or repair values that are not finite", whose, first+i, j, v)
			}
		}
	}
	return nil
}

// Uniform returns n equal shares that sum to 1.
func Uniform(n int) []float64 { return slices.Repeat([]float64{1 / float64(n)}, n) }

// Sum returns the sum of x, added up in order: the same on every machine.
func Sum(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum
}

// Normalize scales p to sum to 1.
func Normalize(p []float64) {
	sum := Sum(p)
	for k := range p {
		p[k] /= sum
	}
}

// L1 returns the L1 distance Σ|p_k − q_k|; of two vectors of proportions it is
// from 0 to 2.
func L1(p, q []float64) float64 {
	sum := 0.0
	for k := range p {
		sum += max(p[k]-q[k], q[k]-p[k])
	}
	return sum
}

// Median sorts values and returns the middle one, or the mean of the two.
func Median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// IsCondition reports whether an error of gonum's package mat is about rounding
// alone: the result is there, but its last digits are not to be trusted.
func IsCondition(err error) bool {
	var condition mat.Condition
	return errors.As(err, &condition)
}
