//go:build amd64 && !noasm

package main

import "mars/stages/internal/kernel"

// chains is the number of multiply-adds in a turn of the generated loops.
const chains = 12

// peakFlops is what one turn of spin counts for at a number of bits: the same
// instructions do half as many operations on float64, at the same rate.
func peakFlops(bits int) int {
	lanes := 256 / bits
	if kernel.Level() == "avx512" {
		lanes = 512 / bits
	}
	return 2 * chains * lanes
}

func spin(turns int) {
	switch kernel.Level() {
	case "avx512":
		spinAVX512(turns)
	case "avx2":
		spinAVX2(turns)
	}
}
