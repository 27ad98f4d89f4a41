package kernel

import (
	"slices"
	"testing"
)

// TestZip compares the rows of each level with the definition, in memory that ends at a guarded page.
func TestZip(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for n := range 70 {
			for _, width := range []int{4, 5, 20} {
				var columns [4][]float32
				for k := range columns {
					columns[k] = fence[float32]{t, (n+k)%2 == 0}.slice(n)
					for i := range columns[k] {
						columns[k][i] = float32(1 + i + 100*k)
					}
				}
				got := fence[float32]{t, n%2 == 1}.slice(max(0, (n-1)*width+4))
				want := make([]float32, len(got))
				for k, c := range columns {
					for i, v := range c {
						want[i*width+k] = v
					}
				}
				if Zip(got, width, columns); !slices.Equal(got, want) {
					t.Fatalf("%d rows of %d: %v, want %v", n, width, got, want)
				}
			}
		}
	})
}

// TestStream copies to every offset of a cache line, and nothing beside it.
func TestStream(t *testing.T) {
	eachLevel(t, func(t *testing.T) {
		for n := range 400 {
			src, room := fence[float32]{t, n%2 == 0}.slice(n), make([]float32, n+40)
			for i := range src {
				src[i] = float32(1 + i)
			}
			at := n % 20
			if Stream(room[at:at+n], src); !slices.Equal(room[at:at+n], src) {
				t.Fatalf("%d values: %v", n, room)
			}
			if clear(room[at : at+n]); slices.ContainsFunc(room, func(v float32) bool { return v != 0 }) {
				t.Fatalf("%d values: wrote beside them", n)
			}
		}
	})
}
