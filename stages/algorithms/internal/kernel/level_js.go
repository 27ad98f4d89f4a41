//go:build simd

package kernel

import (
	"math"
	"unsafe"
)

// levels lists the levels that a browser can run, the best first. Whoever instantiates the program
// gives it the functions of products.wasm.
func levels() []*loops { return []*loops{&vectors, &generic} }

var vectors = derive("simd", func(l *loops) {
	l.products32 = &tiling[float32]{
		depth: 384, height: panelRows, wide: 32, packRows: 512, wideTile: stile,
		lanes: 1, group: 1, transpose: transposePlain[float32], copy: copyPlain[float32],
	}
	l.products64 = &tiling[float64]{
		depth: 256, height: panelRows, wide: 16, packRows: 512, wideTile: dtile,
		lanes: 1, group: 1, transpose: transposePlain[float64], copy: copyPlain[float64],
	}
	l.exp, l.exp64 = expPlain[float32], expPlain[float64]
})

func stile(rows, cols, k int, alpha float32, a *float32, rowStep, colStep int, b *float32, bStep int, beta float32, c *float32, cStep int) {
	sgemm(int32(rows), int32(cols), int32(k), alpha, a, int32(4*rowStep), int32(4*colStep), b, int32(4*bStep), beta, c, int32(4*cStep))
}

func dtile(rows, cols, k int, alpha float64, a *float64, rowStep, colStep int, b *float64, bStep int, beta float64, c *float64, cStep int) {
	dgemm(int32(rows), int32(cols), int32(k), alpha, a, int32(8*rowStep), int32(8*colStep), b, int32(8*bStep), beta, c, int32(8*cStep))
}

// sgemm computes c = alpha·a·b + beta·c as a tileFunc does, with steps in bytes.
//
//go:wasmimport kernel sgemm
//go:noescape
func sgemm(rows, cols, k int32, alpha float32, a *float32, rowStep, colStep int32, b *float32, bStep int32, beta float32, c *float32, cStep int32)

// dgemm is sgemm in float64.
//
//go:wasmimport kernel dgemm
//go:noescape
func dgemm(rows, cols, k int32, alpha float64, a *float64, rowStep, colStep int32, b *float64, bStep int32, beta float64, c *float64, cStep int32)

// transposePlain writes a row of so many elements as a column.
func transposePlain[T float](dst *T, dstStep int, src *T, _, elements int) {
	from, to := unsafe.Slice(src, elements), unsafe.Slice(dst, (elements-1)*dstStep+1)
	for p, v := range from {
		to[p*dstStep] = v
	}
}

// copyPlain copies column src of each of some panels of k rows, which are width columns apart.
func copyPlain[T float](dst *T, dstStep, distance int, src *T, srcStep, width, _, k, panels int) {
	from, to := unsafe.Slice(src, (panels-1)*width+(k-1)*srcStep+1), unsafe.Slice(dst, (panels-1)*distance+(k-1)*dstStep+1)
	for panel := range panels {
		for p := range k {
			to[panel*distance+p*dstStep] = from[panel*width+p*srcStep]
		}
	}
}

// expPlain sets dst = exp(x) as math.Exp does without assembly, but scales by a power of 2 in one
// product: math.Ldexp takes most of its time.
func expPlain[T float](dst, x []T) {
	const (
		normal = 700 // the result is a normal number up to here, and from its negative
		high   = 6.93147180369123816490e-01
		low    = 1.90821492927058770002e-10
	)
	for i, v := range x {
		x := float64(v)
		if !(-normal < x && x < normal) {
			dst[i] = T(math.Exp(x))
			continue
		}
		n := math.Floor(math.Log2E*x + 0.5)
		upper, lower := x-n*high, n*low
		r := upper - lower
		t := r * r
		c := r - t*(1.66666666666666657415e-01+t*(-2.77777777770155933842e-03+t*(6.61375632143793436117e-05+t*(-1.65339022054652515390e-06+t*4.13813679705723846039e-08))))
		dst[i] = T((1 - ((lower - r*c/(2-c)) - upper)) * math.Float64frombits(uint64(int64(n)+1023)<<52))
	}
}
