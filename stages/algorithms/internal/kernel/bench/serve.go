package main

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"

	"mars.dev/mars/stages/algorithms/internal/kernel"
	"mars.dev/mars/stages/algorithms/internal/kernel/peak"
)

// library multiplies matrices in both precisions.
type library interface {
	blas.Float32Level3
	blas.Float64Level3
}

// installed is what the kernel package has put under gonum.
var installed library = struct {
	blas.Float32Level3
	blas.Float64Level3
}{blas32.Implementation(), blas64.Implementation()}

// netlib is the system's OpenBLAS, or nil if the program was built without it.
var netlib library

// minTime is how long a product is repeated for one answer.
const minTime = 60 * time.Millisecond

// serveContender answers questions until its input ends.
func serveContender(name string) {
	answer := peakSeconds
	if name == "peak" {
		fmt.Println("register-only multiply-adds of this core")
	} else {
		lib, about := own(name)
		if lib == nil {
			return
		}
		fmt.Println(about)
		answer = func(q question) float64 { return productSeconds(lib, q) }
	}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var q question
		fmt.Sscan(in.Text(), &q.bits, &q.transA, &q.transB, &q.m, &q.n, &q.k, &q.threads)
		kernel.SetJobs(q.threads)
		fmt.Println(answer(q))
	}
}

// own returns the library of that name and what it is, or nil if it does not run here.
func own(name string) (library, string) {
	switch name {
	case "gonum":
		return gonum.Implementation{}, "gonum's pure-Go implementation"
	case "netlib":
		return netlib, "OpenBLAS through gonum's netlib"
	}
	if kernel.Level() != name {
		return nil, ""
	}
	return installed, "package kernel at level " + name
}

// productSeconds returns the time of the fastest repetition.
func productSeconds(lib library, q question) float64 {
	if q.bits == 32 {
		a, b, c := random[float32](q.m*q.k), random[float32](q.k*q.n), random[float32](q.m*q.n)
		return fastest(func() {
			lib.Sgemm(transpose(q.transA), transpose(q.transB), q.m, q.n, q.k, 1, a, stride(q.transA, q.m, q.k), b, stride(q.transB, q.k, q.n), 0, c, q.n)
		})
	}
	a, b, c := random[float64](q.m*q.k), random[float64](q.k*q.n), random[float64](q.m*q.n)
	return fastest(func() {
		lib.Dgemm(transpose(q.transA), transpose(q.transB), q.m, q.n, q.k, 1, a, stride(q.transA, q.m, q.k), b, stride(q.transB, q.k, q.n), 0, c, q.n)
	})
}

// peakSeconds times as many multiply-adds as the product has, without any memory.
func peakSeconds(q question) float64 {
	iterations := int(q.flops() / float64(max(1, peak.Flops(q.bits))))
	return fastest(func() { peak.Spin(iterations) })
}

func fastest(f func()) float64 {
	best := math.Inf(1)
	for end := time.Now().Add(minTime); ; {
		start := time.Now()
		f()
		best = min(best, time.Since(start).Seconds())
		if time.Now().After(end) {
			return best
		}
	}
}

func random[T float32 | float64](n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(rand.Float64())
	}
	return x
}

func transpose(transposed bool) blas.Transpose {
	if transposed {
		return blas.Trans
	}
	return blas.NoTrans
}

func stride(transposed bool, rows, cols int) int {
	if transposed {
		return rows
	}
	return cols
}
