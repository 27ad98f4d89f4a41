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
		fmt.Sscan(in.Text(), &q.bits, &q.transA, &q.transB, &q.m, &q.n, &q.k, &q.threads, &q.operands)
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
		return turnSeconds(q, lib.Sgemm)
	}
	return turnSeconds(q, lib.Dgemm)
}

// turnSeconds is productSeconds of products in turn.
func turnSeconds[T float32 | float64](q question, gemm func(tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int)) float64 {
	var a, b, c [][]T
	for range q.operands {
		a, b, c = append(a, random[T](q.m*q.k)), append(b, random[T](q.k*q.n)), append(c, random[T](q.m*q.n))
	}
	next := 0
	return fastest(func() {
		gemm(transpose(q.transA), transpose(q.transB), q.m, q.n, q.k, 1, a[next], stride(q.transA, q.m, q.k), b[next], stride(q.transB, q.k, q.n), 0, c[next], q.n)
		next = (next + 1) % q.operands
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
