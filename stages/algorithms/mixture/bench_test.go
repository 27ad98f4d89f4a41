package mixture

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// blobs returns n rows of k Gaussians of unit variance in d dimensions whose
// centres are spread by the given standard deviation, and their components.
func blobs(n, d, k int, spread float64, seed uint64) (blas32.General, []int32) {
	rng := newRand(seed, 0)
	centres := make([]float64, k*d)
	for i := range centres {
		centres[i] = spread * rng.NormFloat64()
	}
	x := blas32.General{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}
	truth := make([]int32, n)
	for i := range n {
		c := rng.IntN(k)
		truth[i] = int32(c)
		for j := range d {
			x.Data[i*d+j] = float32(centres[c*d+j] + rng.NormFloat64())
		}
	}
	return x, truth
}

// eachJobs runs a benchmark with one and with two threads.
func eachJobs(b *testing.B, name string, f func(b *testing.B)) {
	for _, jobs := range []int{1, 2} {
		b.Run(fmt.Sprintf("%s/jobs=%d", name, jobs), func(b *testing.B) {
			kernel.SetJobs(jobs)
			defer kernel.SetJobs(0)
			b.ReportAllocs()
			for b.Loop() {
				f(b)
			}
		})
	}
}

func BenchmarkWard(b *testing.B) {
	for _, n := range []int{5_000, 10_000} {
		x, _ := blobs(n, 100, 12, 1, 1)
		eachJobs(b, fmt.Sprintf("n=%d,d=100", n), func(b *testing.B) {
			if _, err := Ward(b.Context(), x, 12, WardOptions{}); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// BenchmarkGMM runs exactly 20 EM steps of one start.
func BenchmarkGMM(b *testing.B) {
	for _, c := range []struct {
		n, d, k int
		spread  float64
	}{{10_000, 100, 12, 0.3}, {5_000, 256, 10, 0.05}, {5_000, 256, 10, 1}, {3_000, 768, 10, 0.3}} {
		x, _ := blobs(c.n, c.d, c.k, c.spread, 1)
		eachJobs(b, fmt.Sprintf("n=%d,d=%d,k=%d,spread=%g", c.n, c.d, c.k, c.spread), func(b *testing.B) {
			if _, err := GMM(b.Context(), x, c.k, GMMOptions{Starts: 1, MaxIterations: 20, Tolerance: 1e-300}); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func BenchmarkKMeans(b *testing.B) {
	x, _ := blobs(10_000, 100, 12, 0.3, 1)
	eachJobs(b, "n=10000,d=100,k=12", func(b *testing.B) {
		if _, err := KMeans(b.Context(), x, 12, KMeansOptions{Starts: 1}); err != nil {
			b.Fatal(err)
		}
	})
}
