// Package simulate makes the data that the tests of several algorithms share.
package simulate

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// Data is labelled source rows, and target rows with their true classes.
type Data struct {
	Source  blas32.General // n_S×d
	Labels  []int32
	Target  blas32.General // n_T×d
	Truth   []int32
	Classes int
}

// Blobs draws classes that are Gaussians of unit variance in d dimensions, with
// means of the given spread, and moved by shift in each coordinate in the target.
func Blobs(rng *rand.Rand, nS, nT, d int, pS, pT []float64, spread, shift float64) Data {
	means := make([][]float64, len(pS))
	for k := range means {
		means[k] = make([]float64, d)
		for j := range d {
			means[k][j] = spread * rng.NormFloat64()
		}
	}
	draw := func(n int, prior []float64, shift float64) (x blas32.General, labels []int32) {
		x, labels = dense.New(n, d), make([]int32, n)
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
	data := Data{Classes: len(pS)}
	data.Source, data.Labels = draw(nS, pS, 0)
	data.Target, data.Truth = draw(nT, pT, shift)
	return data
}

// Dirichlet draws proportions uniformly from the simplex.
func Dirichlet(rng *rand.Rand, classes int) []float64 {
	p := make([]float64, classes)
	for k := range p {
		p[k] = rng.ExpFloat64()
	}
	dense.Normalize(p)
	return p
}
