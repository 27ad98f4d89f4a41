package selection

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestNth(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 1; n < 100; n++ {
		for _, kinds := range []uint64{1, 3, 1 << 60} {
			values := make([]uint64, n)
			for i := range values {
				values[i] = rng.Uint64N(kinds)
			}
			sorted := slices.Sorted(slices.Values(values))
			k := rng.IntN(n)
			some := slices.Clone(values)
			if got := Nth(some, k); got != sorted[k] {
				t.Fatalf("place %d of %v is %d, want %d", k, values, got, sorted[k])
			}
			if k > 0 && slices.Max(some[:k]) > sorted[k] {
				t.Fatalf("place %d of %v: a greater one is before it: %v", k, values, some)
			}
			if slices.Sort(some); !slices.Equal(some, sorted) {
				t.Fatalf("%v has become %v", values, some)
			}
		}
	}
}
