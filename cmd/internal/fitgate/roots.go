package main

import (
	"math"
	"math/rand/v2"
)

// A rootsFunc draws the roots of a row, and its class if that comes first.
type rootsFunc = func(rng *rand.Rand) (roots []float64, class int)

// causes are q independent roots, each with a distribution of its own: normal, with heavy
// tails, uniform, log-normal, or of some clusters.
func causes(rng *rand.Rand, q int) rootsFunc {
	draws := make([]func(*rand.Rand) float64, q)
	heavy := chance(rng, .3)
	for j := range draws {
		draws[j] = (*rand.Rand).NormFloat64
		if chance(rng, .5) {
			continue
		}
		kind := rng.IntN(4)
		if heavy {
			kind = 0
		}
		switch kind {
		case 0:
			df := between(rng, 2, 5)
			draws[j] = func(rng *rand.Rand) float64 { return student(rng, df) }
		case 1:
			draws[j] = func(rng *rand.Rand) float64 { return uniform(rng, -1.7, 1.7) }
		case 2:
			s := uniform(rng, .3, 1)
			draws[j] = func(rng *rand.Rand) float64 { return math.Exp(s*rng.NormFloat64()) - math.Exp(s*s/2) }
		default:
			centres, shares := normals(rng, between(rng, 2, 4), 1), dirichlet(rng, 3, 4)
			draws[j] = func(rng *rand.Rand) float64 {
				return centres[weighted(rng, shares[:len(centres)]...)] + .3*rng.NormFloat64()
			}
		}
	}
	return func(rng *rand.Rand) ([]float64, int) {
		z := make([]float64, q)
		for j := range z {
			z[j] = draws[j](rng)
		}
		return z, -1
	}
}

// clouds are q roots given the class: each class has 1 to 4 parts, each with a covariance of
// its own. The classes are from hardly to wholly apart.
func clouds(rng *rand.Rand, q, classes int) rootsFunc {
	apart := logUniform(rng, .8, 8) / math.Sqrt(float64(q))
	loose := uniform(rng, .2, 1.2) * apart // how far a class's parts are from one another
	most := pick(rng, 1, 1, 4)
	df := 0
	if chance(rng, .3) {
		df = between(rng, 3, 6)
	}
	shares := dirichlet(rng, between(rng, 1, 5), classes)
	type part struct {
		centre []float64
		factor [][]float64 // of the covariance
	}
	parts := make([][]part, classes)
	own := chance(rng, .6)
	common := factor(rng, q)
	for k := range parts {
		centre := normals(rng, q, apart)
		for range between(rng, 1, most) {
			c := part{normals(rng, q, loose), common}
			for j := range c.centre {
				c.centre[j] += centre[j]
			}
			if own {
				c.factor = factor(rng, q)
			}
			parts[k] = append(parts[k], c)
		}
	}
	return func(rng *rand.Rand) ([]float64, int) {
		k := weighted(rng, shares...)
		c := pick(rng, parts[k]...)
		e := normals(rng, q, 1)
		if df > 0 {
			wide := math.Abs(student(rng, df) / (math.Abs(rng.NormFloat64()) + .3)) // a scale for the row
			for j := range e {
				e[j] *= min(.5+wide/2, 10)
			}
		}
		z := make([]float64, q)
		for i := range z {
			z[i] = c.centre[i]
			for j, f := range c.factor[i] {
				z[i] += f * e[j]
			}
		}
		return z, k
	}
}

// factor draws a q×q matrix, which makes correlated values of independent ones.
func factor(rng *rand.Rand, q int) [][]float64 {
	mixed := uniform(rng, 0, .8) / math.Sqrt(float64(q))
	f := make([][]float64, q)
	for i := range f {
		f[i] = normals(rng, q, mixed)
		f[i][i] += math.Exp(.3 * rng.NormFloat64())
	}
	return f
}

// The shapes of two classes in a plane are those that toys are made of (scikit-learn's
// make_blobs, make_moons, make_circles, and skada's make_shifted_datasets), turned at random.

// blobs are one or several round clouds a class, at random or in turn along a line or ring.
func blobs(rng *rand.Rand) rootsFunc {
	n := pick(rng, 1, 1, 1, 2, 3, 4)
	wide := logUniform(rng, .1, 1)
	layout := rng.IntN(3)
	centres := make([][2]float64, 2*n)
	for i := range centres {
		along := float64(i) / float64(2*n)
		switch layout {
		case 0:
			centres[i] = [2]float64{1.3 * rng.NormFloat64(), 1.3 * rng.NormFloat64()}
		case 1:
			centres[i] = [2]float64{4*along - 2, .3 * rng.NormFloat64()}
		default:
			centres[i] = [2]float64{1.5 * math.Cos(2*math.Pi*along), 1.5 * math.Sin(2*math.Pi*along)}
		}
	}
	grouped := n > 1 && chance(rng, .5) // neighbours are of one class
	widths := []float64{wide * uniform(rng, .7, 1.4), wide * uniform(rng, .7, 1.4)}
	return turned(rng, func(rng *rand.Rand, class int) (float64, float64) {
		i := 2*rng.IntN(n) + class
		if grouped {
			i = class*n + rng.IntN(n)
		}
		return centres[i][0] + widths[class]*rng.NormFloat64(), centres[i][1] + widths[class]*rng.NormFloat64()
	})
}

func moons(rng *rand.Rand) rootsFunc {
	noise := logUniform(rng, .05, .5)
	return turned(rng, func(rng *rand.Rand, class int) (float64, float64) {
		a := math.Pi * rng.Float64()
		x, y := math.Cos(a), math.Sin(a)
		if class == 1 {
			x, y = 1-x, .5-y
		}
		return x - .5 + noise*rng.NormFloat64(), y - .25 + noise*rng.NormFloat64()
	})
}

func rings(rng *rand.Rand) rootsFunc {
	noise, inner := logUniform(rng, .03, .4), uniform(rng, 0, .8)
	return turned(rng, func(rng *rand.Rand, class int) (float64, float64) {
		a, radius := 2*math.Pi*rng.Float64(), 1.0
		if class == 1 {
			radius = inner
		}
		return radius*math.Cos(a) + noise*rng.NormFloat64(), radius*math.Sin(a) + noise*rng.NormFloat64()
	})
}

// turned gives a shape of two classes shares, a direction, and a stretch.
func turned(rng *rand.Rand, shape func(rng *rand.Rand, class int) (x, y float64)) rootsFunc {
	shares := dirichlet(rng, between(rng, 2, 8), 2)
	if chance(rng, .4) {
		shares = []float64{.5, .5}
	}
	sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
	stretch := logUniform(rng, .5, 2)
	return func(rng *rand.Rand) ([]float64, int) {
		k := weighted(rng, shares...)
		x, y := shape(rng, k)
		y *= stretch
		return []float64{cos*x - sin*y, sin*x + cos*y}, k
	}
}
