package encode

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The median by selection is that of sorted values.
func TestMedian(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 1; n < 200; n++ {
		for _, kinds := range []int{1, 2, 5, 1 << 20} {
			values := make([]float32, n)
			for i := range values {
				values[i] = float32(rng.IntN(kinds))
			}
			sorted := slices.Clone(values)
			slices.Sort(sorted)
			want := float32((float64(sorted[(n-1)/2]) + float64(sorted[n/2])) / 2)
			if got := median(slices.Clone(values)); got != want {
				t.Fatalf("the median of %v is %v, want %v", values, got, want)
			}
			if got := median(sorted); got != want {
				t.Fatalf("sorted: %v, want %v", got, want)
			}
		}
	}
}
