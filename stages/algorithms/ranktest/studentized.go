package ranktest

import (
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

const (
	normalEdge = 9.0  // beyond which the normal density does not count
	points     = 200  // of the quadrature
	rangeEnd   = 40.0 // beyond all quantiles that are asked for
	halvings   = 60
)

// rangeProbability is the probability that the range of k independent standard normal
// values is at most q: the studentized range of infinitely many degrees of freedom.
func rangeProbability(k int, q float64) float64 {
	normal := distuv.UnitNormal
	density := func(z float64) float64 {
		return float64(k) * normal.Prob(z) * math.Pow(normal.CDF(z)-normal.CDF(z-q), float64(k-1))
	}
	return quad.Fixed(density, -normalEdge, normalEdge, points, quad.Legendre{}, 0)
}

// rangeQuantile is the q whose rangeProbability is p.
func rangeQuantile(k int, p float64) float64 {
	low, high := 0.0, rangeEnd
	for range halvings {
		if middle := (low + high) / 2; rangeProbability(k, middle) < p {
			low = middle
		} else {
			high = middle
		}
	}
	return (low + high) / 2
}
