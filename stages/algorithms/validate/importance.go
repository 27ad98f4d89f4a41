package validate

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// Importance is the accuracy of predictions of the rows x (n×d), whose labels are known. Each
// is weighted by the density of the target at its place over that of the source, by Gaussian
// kernels of deviation 1: columns should have about that deviation. It also returns how many
// rows of equal weight the weights amount to (Kish's effective sample size): of few rows the
// score says little, and in many columns there are always few. The end of ctx ends it.
func Importance(ctx context.Context, source, target, x blas32.General, labels, predictions []int32) (score, effective float64, err error) {
	logs := make([]float64, x.Rows)
	for i := range logs {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		logs[i] = logDensity(target, dense.Row(x, i)) - logDensity(source, dense.Row(x, i))
	}
	greatest := math.Inf(-1)
	for _, v := range logs {
		greatest = max(greatest, v)
	}
	right, sum, squares := 0.0, 0.0, 0.0
	for i, v := range logs {
		w := math.Exp(v - greatest)
		sum += w
		squares += w * w
		if predictions[i] == labels[i] {
			right += w
		}
	}
	return right / sum, sum * sum / squares, nil
}

// logDensity is the logarithm of Σ exp(−|q − x_i|²/2) over the rows of x.
func logDensity(x blas32.General, q []float32) float64 {
	d := make([]float32, x.Rows)
	kernel.SquaredDistances(d, q, x.Data, x.Rows, x.Cols)
	least := d[0]
	for _, v := range d {
		least = min(least, v)
	}
	sum := 0.0
	for _, v := range d {
		sum += math.Exp(-float64(v-least) / 2)
	}
	return math.Log(sum) - float64(least)/2
}
