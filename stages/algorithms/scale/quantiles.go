package scale

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/stat/distuv"
)

// Quantiles bring columns to a normal distribution, as scikit-learn's
// QuantileTransformer(output_distribution="normal") does: a value becomes the normal score of
// the share of rows below it. A column whose quantiles are all one value becomes 0, as in
// Standard.
type Quantiles struct {
	Values [][]float64 `json:"values"` // of each column, from its least to its greatest
}

// mostQuantiles is how many quantiles of a column are kept at most.
const mostQuantiles = 128

// leastShare is what a share is at least, and 1 less it at most: normal scores are finite.
const leastShare = 1e-7

// FitQuantiles returns the quantiles of the columns of x. Constant columns, errors and panics
// are as for Fit.
func FitQuantiles(ctx context.Context, x blas32.General) (q Quantiles, constant []int, err error) {
	n := min(mostQuantiles, x.Rows)
	q.Values = make([][]float64, x.Cols)
	err = eachColumn(ctx, x, func(j int, sorted []float32) {
		if sorted[0] == sorted[len(sorted)-1] {
			constant = append(constant, j)
		}
		q.Values[j] = make([]float64, n)
		for k := range n {
			q.Values[j][k] = quantile(sorted, numpyShare(k, n-1))
		}
	})
	return q, constant, err
}

// numpyShare is k/n as scikit-learn computes it: by linspace, and by way of percent.
func numpyShare(k, n int) float64 {
	if k == n {
		return min(1, float64(n)) // of one row, 0
	}
	return float64(float64(k)*(1/float64(n))) * 100 / 100
}

// Check is as for Standard.
func (q Quantiles) Check(d int) error {
	if len(q.Values) != d {
		return fmt.Errorf("quantiles: fitted to %d features, the data have %d: apply them to the features they were fitted to", len(q.Values), d)
	}
	for j, values := range q.Values {
		finite := len(values) > 0 && len(values) == len(q.Values[0]) && !slices.ContainsFunc(values, notFinite)
		if !finite || !slices.IsSorted(values) {
			return fmt.Errorf("quantiles: those of feature %d are no %d ascending numbers: fit them again", j, len(q.Values[0]))
		}
	}
	return nil
}

func notFinite(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

// Apply replaces the values of x (n×d) by their normal scores, in place. It returns ctx.Err()
// if ctx ends; then some of x are. It panics if x has another number of columns. NaN
// stays NaN.
func (q Quantiles) Apply(ctx context.Context, x blas32.General) error {
	if x.Cols != len(q.Values) {
		panic("scale: number of columns differs")
	}
	return eachRow(ctx, x, func(_ int, row []float32) error {
		for j, v := range row {
			if v == v {
				row[j] = score(q.Values[j], float64(v))
			}
		}
		return nil
	})
}

// score is the normal score of v among a column's quantiles. A value that is several of them
// is in their middle. scikit-learn takes all that is within 1e-7 of the ends to them, which
// columns of small numbers would not survive: here only what is at the ends or beyond.
func score(quantiles []float64, v float64) float32 {
	last := len(quantiles) - 1
	share := 0.0
	k, found := slices.BinarySearch(quantiles, v)
	switch {
	case quantiles[0] == quantiles[last]:
		return 0
	case v <= quantiles[0]:
	case v >= quantiles[last]:
		share = 1
	case found:
		end := k
		for quantiles[end+1] == v {
			end++
		}
		share = float64(k+end) / 2 / float64(last)
	default:
		low, high := quantiles[k-1], quantiles[k]
		share = (float64(k-1) + (v-low)/(high-low)) / float64(last)
	}
	return float32(distuv.UnitNormal.Quantile(min(max(share, leastShare), 1-leastShare)))
}
