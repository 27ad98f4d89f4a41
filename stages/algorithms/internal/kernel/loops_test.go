package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// loopCase runs one loop of a level on vectors of one length.
type loopCase struct {
	name    string
	vectors int
	run     func(l *loops, v [][]float32)
}

var loopCases = []loopCase{
	{"axpy", 2, func(l *loops, v [][]float32) { l.axpy(0.7, v[0], v[1]) }},
	{"scale", 1, func(l *loops, v [][]float32) { l.scale(-1.3, v[0]) }},
	{"mul", 2, func(l *loops, v [][]float32) { l.mul(v[0], v[1]) }},
	{"mulAdd", 3, func(l *loops, v [][]float32) { l.mulAdd(v[0], v[1], v[2]) }},
	{"lerp", 3, func(l *loops, v [][]float32) { l.lerp(v[0], v[1], v[2], 0.3, 0.7) }},
	{"affine", 1, func(l *loops, v [][]float32) { l.affine(v[0], -1.3, 0.4) }},
	{"sum", 1, func(l *loops, v [][]float32) {
		if len(v[0]) > 0 {
			v[0][0] = l.sum(v[0])
		}
	}},
	{"maximum", 2, func(l *loops, v [][]float32) { l.maximum(v[0], v[1]) }},
	{"markAbove", 2, func(l *loops, v [][]float32) { l.markAbove(bitsOf(v[0]), v[1], -0.1, 0x80000005) }},
	{"markNotUpTo", 2, func(l *loops, v [][]float32) { l.markNotUpTo(bitsOf(v[0]), v[1], -0.1, 0x80000005) }},
	{"addReLU", 2, func(l *loops, v [][]float32) { l.addReLU(v[0], v[1]) }},
	{"reluBackward", 2, func(l *loops, v [][]float32) { l.reluBackward(v[0], v[1]) }},
	{"sgd", 2, func(l *loops, v [][]float32) { l.sgd(v[0], v[1], 0.1, 0.01) }},
	{"momentumSGD", 3, func(l *loops, v [][]float32) { l.momentumSGD(v[0], v[1], v[2], 0.1, 0.9, 0.01) }},
	{"adam", 4, func(l *loops, v [][]float32) {
		for i, s := range v[3] {
			v[3][i] = s * s
		}
		l.adam(v[0], v[1], v[2], v[3], 0.9, 0.1, 0.99, 0.01, 0.1, 1.5, 1e-3, 0.01)
	}},
	{"exp", 2, func(l *loops, v [][]float32) { l.exp(v[0], v[1]) }},
	{"dot", 2, func(l *loops, v [][]float32) {
		if len(v[0]) > 0 {
			v[0][0] = l.dot(v[0], v[1])
		}
	}},
	{"squaredDistances", 2, func(l *loops, v [][]float32) {
		for rows := 1; rows <= min(len(v[0]), 9); rows++ { // as many columns as fit
			l.squaredDistances(v[0][:rows], v[1][:len(v[1])/rows/2], v[1][:len(v[1])/rows/2*rows])
		}
	}},
}

// bitsOf are the same numbers as bits.
func bitsOf(x []float32) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// TestLoopsAgainstTwins compares every loop of every level with its pure-Go
// twin, at every length up to several unrolled iterations, on vectors that begin
// or end at a guarded page.
func TestLoopsAgainstTwins(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, l := range levels() {
		for _, c := range loopCases {
			t.Run(l.name+"/"+c.name, func(t *testing.T) {
				for n := range 150 {
					compareLoop(t, l, c, n, func(i, j int) float32 { return float32(r.NormFloat64()) })
				}
			})
		}
	}
}

// TestLoopsSpecialValues does so with NaN, infinities and zeros.
func TestLoopsSpecialValues(t *testing.T) {
	special := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0, float32(math.Copysign(0, -1)), 1, -1, 1e-40}
	r := rand.New(rand.NewPCG(5, 6))
	for _, l := range levels() {
		for _, c := range loopCases {
			t.Run(l.name+"/"+c.name, func(t *testing.T) {
				for range 50 {
					compareLoop(t, l, c, 40, func(i, j int) float32 { return special[r.IntN(len(special))] })
				}
			})
		}
	}
}

func compareLoop(t *testing.T, l *loops, c loopCase, n int, value func(i, j int) float32) {
	t.Helper()
	got, want := make([][]float32, c.vectors), make([][]float32, c.vectors)
	for i := range got {
		got[i], want[i] = fence[float32]{t, n%2 == 0}.slice(n), make([]float32, n)
		for j := range got[i] {
			got[i][j] = value(i, j)
		}
		copy(want[i], got[i])
	}
	c.run(l, got)
	c.run(&generic, want)
	for i := range got {
		for j := range got[i] {
			if !agree(got[i][j], want[i][j]) {
				t.Fatalf("length %d: vector %d, element %d is %v, the twin has %v", n, i, j, got[i][j], want[i][j])
			}
		}
	}
}

// agree allows for another rounding and order of sums of about 100 numbers of
// size 1.
func agree(got, want float32) bool {
	g, w := float64(got), float64(want)
	if math.IsNaN(w) || math.IsInf(w, 0) {
		return math.IsNaN(g) == math.IsNaN(w) && (math.IsNaN(w) || g == w)
	}
	return math.Abs(g-w) <= 2e-6*(1+math.Abs(w))*4
}

func TestDoubleLoopsAgainstTwins(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, l := range levels() {
		t.Run(l.name, func(t *testing.T) {
			for n := range 100 {
				x, y := fence[float64]{t, n%2 == 0}.slice(n), fence[float64]{t, n%2 == 0}.slice(n)
				want := make([]float64, n)
				for i := range x {
					x[i], y[i] = r.NormFloat64(), r.NormFloat64()
				}
				copy(want, y)
				axpyGo(0.3, x, want)
				l.axpy64(0.3, x, y)
				for i := range y {
					if math.Abs(y[i]-want[i]) > 1e-14 {
						t.Fatalf("axpy64: length %d: element %d is %v, want %v", n, i, y[i], want[i])
					}
				}
				if got, want := l.dot64(x, y), dotGo(x, y); math.Abs(got-want) > 1e-12 {
					t.Fatalf("dot64: length %d: %v, want %v", n, got, want)
				}
			}
		})
	}
}

func ExampleSquaredDistances() {
	points := []float32{0, 0, 3, 4, 1, 1}
	distances := make([]float32, 3)
	SquaredDistances(distances, []float32{0, 0}, points, 3, 2)
	fmt.Println(distances)
	// Output: [0 25 2]
}
