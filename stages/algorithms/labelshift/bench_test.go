package labelshift

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// blobs is a problem whose classes are Gaussians of unit variance in d
// dimensions, with means of the given spread, and moved by shift in the target.
func blobs(rng *rand.Rand, nS, nT, d int, pS, pT []float64, spread, shift float64) (p Problem, truth []int32) {
	means := make([][]float64, len(pS))
	for k := range means {
		means[k] = make([]float64, d)
		for j := range d {
			means[k][j] = spread * rng.NormFloat64()
		}
	}
	draw := func(n int, prior []float64, shift float64) (x blas32.General, labels []int32) {
		x, labels = newRows(n, d), make([]int32, n)
		for i := range n {
			k, u := 0, rng.Float64()
			for u -= prior[0]; u > 0 && k < len(prior)-1; u -= prior[k] {
				k++
			}
			labels[i] = int32(k)
			for j := range d {
				x.Data[i*d+j] = float32(means[k][j] + shift + rng.NormFloat64())
			}
		}
		return x, labels
	}
	p.Classes = len(pS)
	p.Source, p.Labels = draw(nS, pS, 0)
	target, truth := draw(nT, pT, shift)
	p.Target = InMemory(target)
	return p, truth
}

func uniform(classes int) []float64 {
	p := make([]float64, classes)
	for k := range p {
		p[k] = 1 / float64(classes)
	}
	return p
}

// The task of PERFORMANCE: 4,000 source and 2,000 target rows.
func BenchmarkMTE(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	p, _ := blobs(rng, 4000, 2000, 50, uniform(10), uniform(10), 1, 0.5)
	for b.Loop() {
		if _, err := MTE(p, MTEOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

// The panel, and its intervals from 200 replicates, on the same rows.
func BenchmarkInterval(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	p, _ := blobs(rng, 4000, 2000, 50, uniform(10), uniform(10), 1, 0.5)
	panel, err := Consult(p, linear, MTEOptions{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := panel.Interval(IntervalOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
