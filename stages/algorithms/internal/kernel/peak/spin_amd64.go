//go:build amd64 && !noasm

package peak

import "mars.dev/mars/stages/algorithms/internal/kernel"

// chains is the number of multiply-adds in an iteration of the generated loops.
const chains = 12

// Flops is the number of floating-point operations that one iteration of Spin stands
// for, with numbers of 32 or 64 bits: instructions on float64 run at the same rate and do
// half as many. It is 0 where there is no loop for this processor.
func Flops(bits int) int { return 2 * chains * vectorBits[kernel.Level()] / bits }

// vectorBits is the size of a vector at each level that has a loop.
var vectorBits = map[string]int{"avx512": 512, "avx2": 256}

// Spin runs the given number of iterations on the calling goroutine.
func Spin(iterations int) {
	switch kernel.Level() {
	case "avx512":
		spinAVX512(iterations)
	case "avx2":
		spinAVX2(iterations)
	}
}
