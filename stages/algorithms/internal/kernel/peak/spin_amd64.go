//go:build amd64 && !noasm

package peak

import "mars/stages/algorithms/internal/kernel"

// chains is the number of multiply-adds in a turn of the generated loops.
const chains = 12

// Flops is the number of floating-point operations that one turn of Spin counts for
// at a number of bits: the same instructions do half as many on float64, at the same
// rate. It is 0 where there is no loop for this processor.
func Flops(bits int) int {
	switch kernel.Level() {
	case "avx512":
		return 2 * chains * 512 / bits
	case "avx2":
		return 2 * chains * 256 / bits
	}
	return 0
}

// Spin runs so many turns on the calling goroutine.
func Spin(turns int) {
	switch kernel.Level() {
	case "avx512":
		spinAVX512(turns)
	case "avx2":
		spinAVX2(turns)
	}
}
