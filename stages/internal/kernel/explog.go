package kernel

import "math"

// Exp sets dst[i] = exp(x[i]). dst may be x itself.
func Exp(dst, x []float32) {
	sameLength("Exp", len(dst), len(x))
	active.exp(dst, x)
}

// Log sets dst[i] to the natural logarithm of x[i]: NaN below 0 and -Inf at 0.
// dst may be x itself.
func Log(dst, x []float32) {
	sameLength("Log", len(dst), len(x))
	active.log(dst, x)
}

// Exp64 sets dst[i] = exp(x[i]). dst may be x itself.
func Exp64(dst, x []float64) {
	sameLength("Exp64", len(dst), len(x))
	active.exp64(dst, x)
}

// Log64 sets dst[i] to the natural logarithm of x[i]: NaN below 0 and -Inf at
// 0. dst may be x itself.
func Log64(dst, x []float64) {
	sameLength("Log64", len(dst), len(x))
	active.log64(dst, x)
}

func expGo(dst, x []float32) {
	for i, v := range x {
		dst[i] = float32(math.Exp(float64(v)))
	}
}

func logGo(dst, x []float32) {
	for i, v := range x {
		dst[i] = float32(math.Log(float64(v)))
	}
}

func exp64Go(dst, x []float64) {
	for i, v := range x {
		dst[i] = math.Exp(v)
	}
}

func log64Go(dst, x []float64) {
	for i, v := range x {
		dst[i] = math.Log(v)
	}
}
