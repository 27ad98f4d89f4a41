package peak

import "mars.dev/mars/stages/algorithms/internal/kernel"

// Flops is the number of floating-point operations that one iteration of Spin stands for, with
// numbers of 32 or 64 bits: 24 multiply-adds on vectors of 128 bits. It is 0 where there is no loop
// for the level in use.
func Flops(bits int) int {
	if kernel.Level() == "neon" {
		return 2 * 24 * 128 / bits
	}
	return 0
}

// Spin runs the given number of iterations on the calling goroutine.
func Spin(iterations int) { spinNEON(iterations) }
