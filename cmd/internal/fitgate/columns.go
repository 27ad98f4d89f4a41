package main

import (
	"math"
	"math/rand/v2"
)

// A column shows a root or a node, as one value or, a category, as several of 0 and 1.
type column struct {
	width int
	shows int // root or node; −1 if none
	show  func(rng *rand.Rand, latent, x []float64) []float64
}

// addColumns makes columns of about d values in all. How many of them are irrelevant, have few
// values or are categories is the program's style.
func (p *program) addColumns(rng *rand.Rand, d int) {
	irrelevant, categories, rounded, copies := rarely(rng), rarely(rng), rarely(rng), rarely(rng)/2
	units := chance(rng, .5)
	latent := len(p.spread) + len(p.nodes)
	order := rng.Perm(latent)
	for used := 0; used < d; {
		if used == d-1 {
			categories = 0
		}
		scale := 1.0
		if units {
			scale = logUniform(rng, .01, 1000)
		}
		j := order[len(p.columns)%latent]
		var c column
		switch weighted(rng, irrelevant, categories, rounded, copies, 1) {
		case 0:
			c = unrelated(rng, scale)
		case 1:
			c = category(rng, j, min(between(rng, 2, 6), d-used))
		case 2:
			c = few(rng, j, scale)
		case 3:
			c = again(rng, used)
		default:
			c = shown(rng, j, scale)
			if chance(rng, .3) {
				c = bent(rng, j, scale)
			}
		}
		p.columns = append(p.columns, c)
		used += c.width
	}
}

// rarely is 0 in most tables.
func rarely(rng *rand.Rand) float64 {
	if chance(rng, .6) {
		return 0
	}
	return uniform(rng, .05, .8)
}

// shown is a value in some unit.
func shown(rng *rand.Rand, j int, scale float64) column {
	offset := scale * rng.NormFloat64()
	return column{1, j, func(_ *rand.Rand, latent, x []float64) []float64 {
		return append(x, offset+scale*latent[j])
	}}
}

// bent is a value that is log-normal or saturates, or has noise with heavy tails.
func bent(rng *rand.Rand, j int, scale float64) column {
	var bend func(rng *rand.Rand, v float64) float64
	a := uniform(rng, .3, 1.2)
	switch df := between(rng, 2, 5); rng.IntN(4) {
	case 0:
		bend = func(_ *rand.Rand, v float64) float64 { return math.Exp(min(a*v, 6)) }
	case 1:
		bend = func(_ *rand.Rand, v float64) float64 { return math.Tanh(a * v) }
	case 2:
		bend = func(_ *rand.Rand, v float64) float64 { return math.Copysign(math.Pow(math.Abs(v), 1+a), v) }
	default:
		bend = func(rng *rand.Rand, v float64) float64 { return v + .5*a*student(rng, df) }
	}
	return column{1, j, func(rng *rand.Rand, latent, x []float64) []float64 {
		return append(x, scale*bend(rng, latent[j]))
	}}
}

// few is a value rounded to about 3 to 12 steps.
func few(rng *rand.Rand, j int, scale float64) column {
	step := 4 / float64(between(rng, 3, 12))
	return column{1, j, func(_ *rand.Rand, latent, x []float64) []float64 {
		return append(x, scale*step*math.Round(max(-4, min(4, latent[j]))/step))
	}}
}

// category is a value cut into groups, each a column of 0 and 1; sometimes another group by chance.
func category(rng *rand.Rand, j, groups int) column {
	cuts := normals(rng, groups-1, .8)
	names := rng.Perm(groups)
	wrong := uniform(rng, 0, .2)
	return column{groups, j, func(rng *rand.Rand, latent, x []float64) []float64 {
		g := 0
		for _, c := range cuts {
			if latent[j] > c {
				g++
			}
		}
		if chance(rng, wrong) {
			g = rng.IntN(groups)
		}
		for k := range groups {
			one := 0.0
			if names[g] == k {
				one = 1
			}
			x = append(x, one)
		}
		return x
	}}
}

// again is a column before it, if there is one, in another unit, with little noise or none.
func again(rng *rand.Rand, used int) column {
	if used == 0 {
		return shown(rng, 0, 1)
	}
	of, scale, noise := rng.IntN(used), sign(rng)*logUniform(rng, .1, 10), pick(rng, 0, .05, .3)
	return column{1, -1, func(rng *rand.Rand, _, x []float64) []float64 {
		return append(x, scale*x[of]*(1+noise*rng.NormFloat64()))
	}}
}

// unrelated is a column that has to do with nothing.
func unrelated(rng *rand.Rand, scale float64) column {
	kind, df, p := rng.IntN(4), between(rng, 2, 5), uniform(rng, .1, .9)
	return column{1, -1, func(rng *rand.Rand, _, x []float64) []float64 {
		var v float64
		switch kind {
		case 0:
			v = rng.NormFloat64()
		case 1:
			v = student(rng, df)
		case 2:
			v = math.Exp(.7 * rng.NormFloat64())
		default:
			if chance(rng, p) {
				v = 1
			}
		}
		return append(x, scale*v)
	}}
}
