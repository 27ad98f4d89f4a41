package validate

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

const (
	// temperature of Density, its authors'.
	temperature = 0.05
	// densityBlock is how many rows of similarities are in memory at once.
	densityBlock = 128
)

// Density is the mean entropy of the neighbourhoods of rows by their posteriors (n×C): how
// many others each is alike. It takes time for n² pairs. The end of ctx ends it.
func Density(ctx context.Context, posteriors blas32.General) (float64, error) {
	n := posteriors.Rows
	p := dense.New64(n, posteriors.Cols)
	for i := range n {
		unit(p.Data[i*p.Stride:(i+1)*p.Stride], dense.Row(posteriors, i))
	}
	similar := dense.New64(densityBlock, n)
	sum := 0.0
	for lo := 0; lo < n; lo += densityBlock {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		rows := min(densityBlock, n-lo)
		part := blas64.General{Rows: rows, Cols: p.Cols, Stride: p.Stride, Data: p.Data[lo*p.Stride:]}
		block := blas64.General{Rows: rows, Cols: n, Stride: n, Data: similar.Data[:rows*n]}
		kernel.Gemm64(false, true, 1/temperature, part, p, 0, block)
		for i := range rows {
			row := block.Data[i*n : (i+1)*n]
			row[lo+i] = -row[lo+i] // a row is no neighbour of its own
			sum += softmaxEntropy(row)
		}
	}
	return sum / float64(n), nil
}

// unit writes a row of length 1 to dst.
func unit(dst []float64, row []float32) {
	squares := 0.0
	for _, v := range row {
		squares += float64(v) * float64(v)
	}
	length := max(math.Sqrt(squares), math.SmallestNonzeroFloat64)
	for j, v := range row {
		dst[j] = float64(v) / length
	}
}

// softmaxEntropy is the entropy of the softmax of scores.
func softmaxEntropy(scores []float64) float64 {
	greatest := math.Inf(-1)
	for _, s := range scores {
		greatest = max(greatest, s)
	}
	sum, mean := 0.0, 0.0
	for _, s := range scores {
		e := math.Exp(s - greatest)
		sum += e
		mean += e * (s - greatest)
	}
	return math.Log(sum) - mean/sum
}
