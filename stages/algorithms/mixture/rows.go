package mixture

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// blockRows is how many rows are converted to float64 at a time: few enough to
// stay in the cache, enough for fast matrix products. It is also how many rows
// are worked on between two checks of the context.
const blockRows = 256

// checkRows returns an error for data that cannot have k components: too few
// rows, values that are not finite, or all rows equal.
func checkRows(x blas32.General, k int) error {
	if k < 1 {
		panic("mixture: the number of components must be positive")
	}
	if x.Rows < k {
		return fmt.Errorf("mixture: %d rows for %d components: give more rows or ask for fewer components", x.Rows, k)
	}
	if x.Cols == 0 {
		return errors.New("mixture: rows have no columns: give vectors of at least one value")
	}
	constant := true
	for i := range x.Rows {
		for j, v := range dense.Row(x, i) {
			if v-v != 0 {
				return fmt.Errorf("mixture: row %d, column %d is %v: remove or repair values that are not finite", i, j, v)
			}
			constant = constant && v == x.Data[j]
		}
	}
	if constant && k > 1 {
		return fmt.Errorf("mixture: all %d rows are equal: constant data has no %d components", x.Rows, k)
	}
	return nil
}

// sampleRows returns the rows to fit and their indices in x: all rows, or
// maxRows of them (0 means DefaultMaxRows) drawn without replacement and kept
// in order.
func sampleRows(x blas32.General, k, maxRows int, rng *rand.Rand) (blas32.General, []int) {
	if maxRows == 0 {
		maxRows = DefaultMaxRows
	}
	if maxRows < k {
		panic("mixture: MaxRows is less than the number of components")
	}
	if x.Rows <= maxRows {
		return x, nil
	}
	index := rng.Perm(x.Rows)[:maxRows]
	slices.Sort(index)
	return dense.Gather(x, index), index
}

// newRand returns the random numbers of a seed and a stream. Streams of one
// seed are independent, so a start draws the same numbers in any number of
// starts.
func newRand(seed uint64, stream int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(stream)))
}

// eachBlock calls f in parallel with the bounds of consecutive blocks of at
// most blockRows of n rows. The blocks do not depend on the number of threads.
// When ctx ends it stops early and returns ctx.Err().
func eachBlock(ctx context.Context, n int, f func(block, lo, hi int)) error {
	blocks := (n + blockRows - 1) / blockRows
	kernel.Parallel(blocks, 1, func(first, last int) {
		for b := first; b < last && ctx.Err() == nil; b++ {
			f(b, b*blockRows, min((b+1)*blockRows, n))
		}
	})
	return ctx.Err()
}

// sumBlocks adds up what f returns for each block, in the order of the blocks.
func sumBlocks(ctx context.Context, n int, f func(lo, hi int) float64) (float64, error) {
	sums := make([]float64, (n+blockRows-1)/blockRows)
	err := eachBlock(ctx, n, func(block, lo, hi int) { sums[block] = f(lo, hi) })
	total := 0.0
	for _, s := range sums {
		total += s
	}
	return total, err
}

// view returns rows [r0, r1) and columns [c0, c1) of m, sharing its memory.
func view(m blas64.General, r0, r1, c0, c1 int) blas64.General {
	return blas64.General{Rows: r1 - r0, Cols: c1 - c0, Stride: m.Stride, Data: m.Data[r0*m.Stride+c0:]}
}

// centre subtracts mean from rows [lo, hi) of x and writes them to the first
// rows of dst.
func centre(dst blas64.General, x blas32.General, lo, hi int, mean []float64) {
	for i := lo; i < hi; i++ {
		subtract(dst.Data[(i-lo)*dst.Stride:][:dst.Cols], dense.Row(x, i), mean)
	}
}

// subtract sets dst to x − y.
func subtract(dst []float64, x []float32, y []float64) {
	x, y = x[:len(dst)], y[:len(dst)]
	for j, v := range x {
		dst[j] = float64(v) - y[j]
	}
}

// squaredDistance returns |x − y|².
func squaredDistance(x []float32, y []float64) float64 {
	sum := 0.0
	for j, v := range x {
		d := float64(v) - y[j]
		sum += d * d
	}
	return sum
}

// square returns the sum of the squares of x. It keeps four partial sums.
func square(x []float64) float64 {
	var s0, s1, s2, s3 float64
	for ; len(x) >= 4; x = x[4:] {
		s0 += x[0] * x[0]
		s1 += x[1] * x[1]
		s2 += x[2] * x[2]
		s3 += x[3] * x[3]
	}
	for _, v := range x {
		s0 += v * v
	}
	return (s0 + s1) + (s2 + s3)
}

// log2Pi is the logarithm of 2π.
var log2Pi = math.Log(2 * math.Pi)
