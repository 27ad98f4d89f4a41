package adapt

import "math/rand/v2"

// A batch is B source and B target rows with the coefficients of their losses.
type batch struct {
	source, target []int32   // rows of the problem
	labels         []int32   // of the source rows; in self-training of the target rows after them
	class          []float32 // c_i, coefficients of the classification loss
	critic         []float32 // w_i, weights of the critic's values on the source rows
	interpolation  []float32 // t_i in [0, 1): interpolate i is (1−t_i) z_i^s + t_i z_i^t

	counts []float64 // scratch: rows of each class
}

func newBatch(rows, targets, classes int) *batch {
	return &batch{
		source: make([]int32, rows), target: make([]int32, targets), labels: make([]int32, rows),
		class: make([]float32, rows), critic: make([]float32, rows), interpolation: make([]float32, rows),
		counts: make([]float64, classes),
	}
}

// weigh sets coefficients to mass[y_i] / (rows of class y_i in the batch). They sum to
// the mass of the classes that the batch holds. With normalise they are scaled to sum
// to 1 where a class is missing.
func (b *batch) weigh(coefficients []float32, mass []float64, normalise bool) {
	clear(b.counts)
	for _, y := range b.labels {
		b.counts[y]++
	}
	var present float64
	for c, n := range b.counts {
		if n > 0 {
			present += mass[c]
		}
	}
	if normalise && present == 0 { // there is nothing to scale: none of these classes has mass
		fill(coefficients, 1/float32(len(coefficients)))
		return
	}
	scale := 1.0
	if normalise {
		scale = 1 / present
	}
	for i, y := range b.labels {
		coefficients[i] = float32(scale * mass[y] / b.counts[y])
	}
}

// drawInterpolation draws the coefficients of the interpolates, uniform on [0, 1).
func (b *batch) drawInterpolation(rng *rand.Rand) {
	for i := range b.interpolation {
		b.interpolation[i] = rng.Float32()
	}
}

func fill(values []float32, v float32) {
	for i := range values {
		values[i] = v
	}
}
