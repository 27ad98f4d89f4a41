package kernel

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
)

// said is what f panics with, "" if it does not.
func said(f func()) (message string) {
	defer func() {
		if r := recover(); r != nil {
			message = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}

// Empty products, and wrong arguments, do what gonum does: with the same result, or the same message.
func TestEmptyAndWrongIsAsGonums(t *testing.T) {
	type matrixProducts interface {
		Dgemm(tA, tB blas.Transpose, m, n, k int, alpha float64, a []float64, lda int, b []float64, ldb int, beta float64, c []float64, ldc int)
		Dgemv(tA blas.Transpose, m, n int, alpha float64, a []float64, lda int, x []float64, incX int, beta float64, y []float64, incY int)
		Dsyrk(ul blas.Uplo, t blas.Transpose, n, k int, alpha float64, a []float64, lda int, beta float64, c []float64, ldc int)
	}
	const wrong = blas.Transpose('x')
	a, b := []float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}
	eachLevel(t, func(t *testing.T) {
		for name, call := range map[string]func(p matrixProducts, c []float64){
			"m is 0":                    func(p matrixProducts, c []float64) { p.Dgemm('N', 'N', 0, 2, 2, 1, a, 2, b, 2, 0.5, c, 2) },
			"n is 0":                    func(p matrixProducts, c []float64) { p.Dgemm('N', 'N', 2, 0, 2, 1, a, 2, b, 2, 0.5, c, 2) },
			"k is 0":                    func(p matrixProducts, c []float64) { p.Dgemm('N', 'N', 2, 2, 0, 1, a, 2, b, 2, 0.5, c, 2) },
			"alpha is 0":                func(p matrixProducts, c []float64) { p.Dgemm('N', 'N', 2, 2, 2, 0, a, 2, b, 2, 0.5, c, 2) },
			"wrong transpose of a":      func(p matrixProducts, c []float64) { p.Dgemm(wrong, 'N', 2, 2, 2, 1, a, 2, b, 2, 0.5, c, 2) },
			"wrong transpose of b":      func(p matrixProducts, c []float64) { p.Dgemm('N', wrong, 2, 2, 2, 1, a, 2, b, 2, 0.5, c, 2) },
			"c is short":                func(p matrixProducts, c []float64) { p.Dgemm('N', 'N', 2, 2, 2, 1, a, 2, b, 2, 0.5, c[:3], 2) },
			"vector, m is 0":            func(p matrixProducts, c []float64) { p.Dgemv('T', 0, 2, 1, a, 2, b, 1, 0.5, c, 1) },
			"vector, n is 0":            func(p matrixProducts, c []float64) { p.Dgemv('N', 2, 0, 1, a, 2, b, 1, 0.5, c, 1) },
			"vector, alpha is 0":        func(p matrixProducts, c []float64) { p.Dgemv('N', 2, 2, 0, a, 2, b, 1, 0.5, c, 1) },
			"vector, stride of a":       func(p matrixProducts, c []float64) { p.Dgemv('N', 2, 2, 1, a, 1, b, 1, 0.5, c, 1) },
			"vector, transpose":         func(p matrixProducts, c []float64) { p.Dgemv(wrong, 2, 2, 1, a, 2, b, 1, 0.5, c, 1) },
			"vector, x is short":        func(p matrixProducts, c []float64) { p.Dgemv('N', 2, 2, 1, a, 2, b[:1], 1, 0.5, c, 1) },
			"triangle, n is 0":          func(p matrixProducts, c []float64) { p.Dsyrk('U', 'N', 0, 2, 1, a, 2, 0.5, c, 2) },
			"triangle, k is 0":          func(p matrixProducts, c []float64) { p.Dsyrk('U', 'N', 2, 0, 1, a, 2, 0.5, c, 2) },
			"triangle, alpha is 0":      func(p matrixProducts, c []float64) { p.Dsyrk('L', 'T', 2, 2, 0, a, 2, 0.5, c, 2) },
			"triangle, wrong uplo":      func(p matrixProducts, c []float64) { p.Dsyrk('x', 'N', 2, 2, 1, a, 2, 0.5, c, 2) },
			"triangle, a is short":      func(p matrixProducts, c []float64) { p.Dsyrk('U', 'N', 2, 2, 1, a[:3], 2, 0.5, c, 2) },
			"triangle, wrong transpose": func(p matrixProducts, c []float64) { p.Dsyrk('U', wrong, 2, 2, 1, a, 2, 0.5, c, 2) },
		} {
			got, want := []float64{1, 2, 3, 4}, []float64{1, 2, 3, 4}
			message := said(func() { call(implementation{}, got) })
			if wanted := said(func() { call(gonum.Implementation{}, want) }); message != wanted {
				t.Errorf("%s: panic %q, want %q", name, message, wanted)
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%s: result %v, want %v", name, got, want)
			}
		}
	})
}

// Labels and lines that do not fit are a panic that says so, on each side of the last that does.
func TestWhatDoesNotFit(t *testing.T) {
	lines := func(length, blocks int) func() {
		return func() {
			x := make([]float32, 2*WinogradPoints*Lanes)
			l := Lines{Length: length, Blocks: blocks, DstLine: Lanes, DstBlock: WinogradPoints * Lanes, SrcLine: Lanes, SrcBlock: WinogradPoints * Lanes}
			WinogradInput(x, make([]float32, len(x)), l)
		}
	}
	label := func(y int32) func() {
		return func() { SoftmaxCrossEntropy(make([]float32, 2), make([]float32, 2), 1, 2, []int32{y}, nil) }
	}
	const whole = "kernel: Winograd: no whole pixels or no blocks"
	for _, c := range []struct {
		what string
		f    func()
		want string
	}{
		{"label -1", label(-1), "kernel: SoftmaxCrossEntropy: label -1 of row 0 is outside [0, 2)"},
		{"label 1", label(1), ""},
		{"label 2", label(2), "kernel: SoftmaxCrossEntropy: label 2 of row 0 is outside [0, 2)"},
		{"no pixels", lines(0, 1), whole},
		{"half a pixel", lines(Lanes/2, 1), whole},
		{"no blocks", lines(Lanes, 0), whole},
		{"two blocks", lines(Lanes, 2), ""},
		{"three blocks", lines(Lanes, 3), "kernel: Winograd: lines end beyond their slice"},
	} {
		if got := said(c.f); got != c.want {
			t.Errorf("%s: panic %q, want %q", c.what, got, c.want)
		}
	}
}
