package adapt

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"
)

// toyVariances are the variances of the paper's toy by setting, class and axis.
var toyVariances = map[string][3][2]float64{
	"low":  {{0.002, 0.005}, {0.005, 0.01}, {0.05, 0.05}},
	"mid":  {{0.025, 0.025}, {0.025, 0.05}, {0.05, 0.05}},
	"high": {{0.035, 0.035}, {0.035, 0.35}, {0.05, 0.05}},
}

// toyProblem samples the paper's toy with 30 rows per unit of balance and the given
// shift. It returns the true labels of the target too.
func toyProblem(setting string, shift float64, balance [3]int, seed uint64) (Problem, []int32) {
	rng := rand.New(rand.NewPCG(seed, 99))
	centres := [3][2]float64{{0.25, 0}, {0, 1}, {1, 1.5}}
	moves := [3][2]float64{{-0.05, -0.05}, {-0.05, -0.05}, {-0.1, -0.0005}}
	draw := func(balance [3]int, shift float64) (blas32.General, []int32) {
		var x []float32
		var y []int32
		for c, share := range balance {
			for range 30 * share {
				for axis := range 2 {
					mean := centres[c][axis] + shift*moves[c][axis]
					x = append(x, float32(mean+math.Sqrt(toyVariances[setting][c][axis])*rng.NormFloat64()))
				}
				y = append(y, int32(c))
			}
		}
		return blas32.General{Rows: len(y), Cols: 2, Stride: 2, Data: x}, y
	}
	p := Problem{Classes: []string{"a", "b", "c"}}
	p.Source, p.Labels = draw([3]int{33, 33, 34}, 0)
	var truth []int32
	p.Target, truth = draw(balance, shift)
	return p, truth
}

// balancedAccuracy is the mean over classes of the share of rows labelled correctly.
func balancedAccuracy(predicted, truth []int32, classes int) float64 {
	right, count := make([]float64, classes), make([]float64, classes)
	for i, y := range truth {
		count[y]++
		if predicted[i] == y {
			right[y]++
		}
	}
	var sum float64
	for c := range right {
		sum += right[c] / count[c] / float64(classes)
	}
	return sum
}
