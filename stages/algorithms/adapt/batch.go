package adapt

import "math/rand/v2"

// A batch is a draw of rows and the coefficients of their losses.
type batch struct {
	source, target []int32   // rows of the problem
	labels         []int32   // of the source rows
	class          []float32 // c_i, coefficients of the classification loss
	critic         []float32 // w_i, weights of the critic's values on the source
	along          []float32 // where between its source and its target row an interpolate lies

	counts []float64 // scratch: rows of each class
}

func newBatch(rows, targets, classes int) *batch {
	return &batch{
		source: make([]int32, rows), target: make([]int32, targets), labels: make([]int32, rows),
		class: make([]float32, rows), critic: make([]float32, rows), along: make([]float32, rows),
		counts: make([]float64, classes),
	}
}

// weigh sets coefficients to mass[y_i] / (rows of class y_i in the batch). They sum to
// the mass of the classes that the batch holds; keep scales them to sum to 1
// where a class is missing.
func (b *batch) weigh(coefficients []float32, mass []float64, keep bool) {
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
	if keep && present == 0 { // nothing to scale: none of these classes has any mass
		fill(coefficients, 1/float32(len(coefficients)))
		return
	}
	scale := 1.0
	if keep {
		scale = 1 / present
	}
	for i, y := range b.labels {
		coefficients[i] = float32(scale * mass[y] / b.counts[y])
	}
}

// interpolate draws where on each line from source to target row the penalty is taken.
func (b *batch) interpolate(rng *rand.Rand) {
	for i := range b.along {
		b.along[i] = rng.Float32()
	}
}

func fill(values []float32, v float32) {
	for i := range values {
		values[i] = v
	}
}
