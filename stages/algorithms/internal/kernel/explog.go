package kernel

import "math"

// Exp64 sets dst[i] = exp(x[i]), off by less than 1 ulp (1.5 at the level
// "generic", which has package math's). dst may be x itself.
func Exp64(dst, x []float64) {
	checkLength("Exp64", len(dst), len(x))
	active.exp64(dst, x)
}

// Log64 sets dst[i] to the natural logarithm of x[i], off by less than 1 ulp:
// NaN below 0 and -Inf at 0. dst may be x itself.
func Log64(dst, x []float64) {
	checkLength("Log64", len(dst), len(x))
	active.log64(dst, x)
}

func expGo(dst, x []float32) {
	for i, v := range x {
		dst[i] = float32(math.Exp(float64(v)))
	}
}

func exp64Go(dst, x []float64) {
	for i, v := range x {
		dst[i] = math.Exp(v)
	}
}

// log64Go lifts numbers below the normal range first: math.Log is wrong about
// them on amd64.
func log64Go(dst, x []float64) {
	const smallestNormal = 0x1p-1022
	for i, v := range x {
		if 0 < v && v < smallestNormal {
			dst[i] = math.Log(v*0x1p54) - 54*math.Ln2
			continue
		}
		dst[i] = math.Log(v)
	}
}
