package labelshift

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The slopes of the calibration's gradient are its Hessian, with few classes and with many.
func TestCalibrationsHessian(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, classes := range []int{3, matrixClasses + 4} {
		const rows = 60
		l := &likelihood{classes: classes, biases: classes, logs: make([]float64, rows*classes), labels: make([]int32, rows)}
		for i := range l.logs {
			l.logs[i] = rng.NormFloat64()
		}
		for i := range l.labels {
			l.labels[i] = int32(rng.IntN(classes))
		}
		v := make([]float64, 1+classes)
		for j := range v {
			v[j] = 0.5 + rng.Float64()
		}
		_, _, hessian := l.derivatives(v)
		const step = 1e-5
		for j := range v {
			at := v[j]
			v[j] = at + step
			_, up, _ := l.derivatives(v)
			v[j] = at - step
			_, down, _ := l.derivatives(v)
			v[j] = at
			for k := range v {
				if slope := (up[k] - down[k]) / (2 * step); math.Abs(slope-hessian.At(j, k)) > 1e-8 {
					t.Fatalf("%d classes, parameters %d and %d: %g, finite differences %g", classes, j, k, hessian.At(j, k), slope)
				}
			}
		}
	}
}
