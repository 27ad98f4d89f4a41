package main

import (
	"math"
	"math/rand/v2"
)

func uniform(rng *rand.Rand, lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }

func logUniform(rng *rand.Rand, lo, hi float64) float64 {
	return math.Exp(uniform(rng, math.Log(lo), math.Log(hi)))
}

func chance(rng *rand.Rand, p float64) bool { return rng.Float64() < p }

// between draws an integer from lo to hi.
func between(rng *rand.Rand, lo, hi int) int { return lo + rng.IntN(hi-lo+1) }

// logBetween draws an integer from lo to hi whose logarithm is about uniform.
func logBetween(rng *rand.Rand, lo, hi int) int {
	return int(logUniform(rng, float64(lo), float64(hi)+1-1e-9))
}

func sign(rng *rand.Rand) float64 { return float64(2*rng.IntN(2) - 1) }

// weighted draws an index, each by its weight.
func weighted(rng *rand.Rand, weights ...float64) int {
	var sum float64
	for _, w := range weights {
		sum += w
	}
	u := sum * rng.Float64()
	for k, w := range weights {
		if u -= w; u < 0 {
			return k
		}
	}
	return len(weights) - 1
}

// dirichlet draws n shares whose concentration is an integer.
func dirichlet(rng *rand.Rand, concentration, n int) []float64 {
	p := make([]float64, n)
	var sum float64
	for k := range p {
		for range concentration { // a gamma of integer shape is a sum of exponentials
			p[k] += rng.ExpFloat64()
		}
		sum += p[k]
	}
	for k := range p {
		p[k] /= sum
	}
	return p
}

// student draws from the t distribution of df degrees of freedom.
func student(rng *rand.Rand, df int) float64 {
	var sum float64
	for range df {
		n := rng.NormFloat64()
		sum += n * n
	}
	return rng.NormFloat64() / math.Sqrt(sum/float64(df))
}

// some draws n of 0 to of−1, in random order.
func some(rng *rand.Rand, n, of int) []int { return rng.Perm(of)[:n] }

// moments gives the mean and the deviation of n values.
func moments(n int, value func(i int) float64) (mean, deviation float64) {
	for i := range n {
		mean += value(i) / float64(n)
	}
	for i := range n {
		v := value(i) - mean
		deviation += v * v / float64(n)
	}
	return mean, math.Sqrt(deviation)
}

func normals(rng *rand.Rand, n int, scale float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = scale * rng.NormFloat64()
	}
	return x
}
