package labelshift

import (
	"math"
	"testing"
)

func TestEffectiveRows(t *testing.T) {
	for _, c := range []struct {
		weights []float64
		counts  []int
		want    float64
	}{
		{[]float64{1, 1}, []int{30, 70}, 100},
		{[]float64{3, 3}, []int{30, 70}, 100},
		{[]float64{2, 0}, []int{50, 50}, 50},
		{[]float64{1.8, 0.2}, []int{50, 50}, 100 * 100 / (50*3.24 + 50*0.04)},
		{[]float64{0, 0}, []int{5, 5}, 0},
	} {
		if got := EffectiveRows(c.weights, c.counts); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v × %v: %v, want %v", c.weights, c.counts, got, c.want)
		}
	}
}
