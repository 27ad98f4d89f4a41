package tsne

import (
	"context"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// blobs are rows of k Gaussian classes.
func blobs(n, d, k int, spread float64, seed uint64) blas32.General {
	rng := rand.New(rand.NewPCG(seed, 0))
	centres := make([]float64, k*d)
	for i := range centres {
		centres[i] = spread * rng.NormFloat64()
	}
	x := dense.New(n, d)
	for i := range n {
		for j := range d {
			x.Data[i*d+j] = float32(centres[(i%k)*d+j] + rng.NormFloat64())
		}
	}
	return x
}

// One Fit of the size that mars plot takes, on one thread:
//
//	go test ./stages/algorithms/tsne -run - -bench Fit -benchtime 1x
func BenchmarkFit(b *testing.B) {
	kernel.SetJobs(1)
	defer kernel.SetJobs(0)
	x := blobs(20_000, 50, 10, 1, 0)
	for b.Loop() {
		if _, err := Fit(context.Background(), x, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
