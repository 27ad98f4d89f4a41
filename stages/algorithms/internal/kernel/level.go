package kernel

import (
	"fmt"
	"os"
	"strings"
)

// loops is one level's implementation of every tuned loop.
type loops struct {
	name string

	products32 *tiling[float32] // nil: gonum's code
	products64 *tiling[float64]

	axpy              func(alpha float32, x, y []float32)
	axpy64            func(alpha float64, x, y []float64)
	dot               func(x, y []float32) float32
	dot64             func(x, y []float64) float64
	scale             func(alpha float32, x []float32)
	affine            func(x []float32, factor, offset float32)
	sum               func(x []float32) float32
	mul               func(dst, x []float32)
	mulAdd            func(dst, x, y []float32)
	maximum           func(dst, x []float32)
	markAbove         func(marks []uint32, x []float32, threshold float32, bits uint32)
	markNotUpTo       func(marks []uint32, x []float32, threshold float32, bits uint32)
	lerp              func(dst, x, y []float32, rest, t float32)
	squaredDistances  func(dst, q, x []float32)
	addReLU           func(y, bias []float32)
	reluBackward      func(dy, y []float32)
	sgd               func(w, g []float32, lr, decay float32)
	momentumSGD       func(w, g, velocity []float32, lr, momentum, decay float32)
	adam              func(w, g, m, v []float32, beta1, rest1, beta2, rest2, rate, scale, eps, decay float32)
	zip               func(dst *float32, width int, a, b, c, d *float32, blocks int)
	block             int                                 // rows of a block of zip
	stream            func(dst, src *float32, blocks int) // nil: as any copy
	exp               func(dst, x []float32)
	exp64, log64      func(dst, x []float64)
	pixels, pairs     *convolver
	pixelSums         func(x []float32, sum *float32)
	pixelSquares      func(x []float32, mean, sum *float32)
	normalise         func(y, x []float32, mean, scale, offset *float32, floor float32)
	normaliseSums     func(dy, y, x []float32, mean *float32, floor float32, sum, product *float32)
	normaliseBackward func(dx, dy, x []float32, mean, scale, slope, offset *float32)
	maxPool           func(y *float32, argmax *uint8, upper, lower *float32, pixels int, bias, floor float32)
	maxPoolBackward   func(y *float32, argmax *uint8, upper, lower *float32, pixels int, dy *float32, floor float32, sums *float32)
}

// generic is the pure-Go twin of every loop.
var generic = loops{
	name: "generic",
	axpy: axpyGo[float32], axpy64: axpyGo[float64],
	dot: dotGo[float32], dot64: dotGo[float64],
	scale: scaleGo, affine: affineGo, sum: sumGo, mul: mulGo, mulAdd: mulAddGo, lerp: lerpGo, maximum: maximumGo, squaredDistances: squaredDistancesGo,
	markAbove: markAboveGo, markNotUpTo: markNotUpToGo,
	addReLU: addReLUGo, reluBackward: reluBackwardGo,
	sgd: sgdGo, momentumSGD: momentumSGDGo, adam: adamGo,
	zip: zipGo, block: 1,
	exp: expGo, exp64: exp64Go, log64: log64Go,
	pixels: &convolverGo, pairs: &convolverGo,
	pixelSums: pixelSumsGo, pixelSquares: pixelSquaresGo,
	normalise: normaliseGo, normaliseSums: normaliseSumsGo, normaliseBackward: normaliseBackwardGo,
	maxPool: maxPoolGo, maxPoolBackward: maxPoolBackwardGo,
}

// active is the level in use, chosen once before main starts.
var active = choose(os.Getenv("MARS_KERNEL"))

// choose returns the level of that name. If the name is empty or unknown, or
// this processor cannot run the level, it returns the best one that it can run;
// Level names what was chosen.
func choose(name string) *loops {
	all := levels()
	for _, l := range all {
		if l.name == name {
			return l
		}
	}
	return all[0]
}

// Level names the code in use: "avx512", "avx2", "neon" (on arm64), "generic", or "simd" in a browser. The environment
// variable MARS_KERNEL, set to one of these before the program starts, forces
// a level that the processor can run.
func Level() string { return active.name }

// CheckLevel returns an error if MARS_KERNEL names no level that this processor can run.
func CheckLevel() error { return checkLevel(os.Getenv("MARS_KERNEL")) }

func checkLevel(name string) error {
	var names []string
	for _, l := range levels() {
		if names = append(names, l.name); l.name == name || name == "" {
			return nil
		}
	}
	return fmt.Errorf("MARS_KERNEL=%s: this processor has no such kernels: set it to one of %s, or to nothing", name, strings.Join(names, ", "))
}

func checkLength(name string, got, want int) { checkPart(name, "", got, want) }

// checkPart is checkLength with the name in two parts. They are joined only for the
// message, so that a check does not allocate.
func checkPart(name, part string, got, want int) {
	if got != want {
		panic(fmt.Sprintf("kernel: %s%s: length %d, want %d", name, part, got, want))
	}
}

func checkMatrix(name string, x []float32, rows, cols int) {
	if len(x) != rows*cols {
		panic(fmt.Sprintf("kernel: %s: length %d, want %d×%d", name, len(x), rows, cols))
	}
}

// derive returns the generic level with some loops replaced.
func derive(name string, replace func(*loops)) loops {
	l := generic
	l.name = name
	replace(&l)
	return l
}
