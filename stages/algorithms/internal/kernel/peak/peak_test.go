package peak

import (
	"testing"

	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// An iteration stands for multiply-adds, each two operations, of whole vectors: of half as many
// numbers where they are of 64 bits.
func TestFlops(t *testing.T) {
	want := map[string]int{"avx512": 2 * 12 * 16, "avx2": 2 * 12 * 8, "neon": 2 * 24 * 4}[kernel.Level()]
	if single, double := Flops(32), Flops(64); single != want || double != want/2 {
		t.Errorf("%d and %d operations, want %d and half of it", single, double, want)
	}
}
