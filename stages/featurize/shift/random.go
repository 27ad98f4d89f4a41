package shift

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Random stands for proportions that are drawn.
const Random = "random"

// decimals of proportions that are drawn: enough, and few enough to read.
const decimals = 1e4

// RandomProportions draws proportions of n classes uniformly from the simplex, as n
// exponential variates over their sum (Devroye, Non-Uniform Random Variate Generation,
// 1986, theorem V.2.2), and rounds them to four decimals that sum to 1. It panics
// unless n is positive.
func RandomProportions(n int, seed uint64) []float64 {
	if n < 1 {
		panic("shift: proportions of no classes")
	}
	rng := rand.New(rand.NewPCG(seed, 0x51a9e5))
	p, sum := make([]float64, n), 0.0
	for k := range p {
		p[k] = rng.ExpFloat64()
		sum += p[k]
	}
	left := decimals
	for k := range p {
		p[k] = math.Round(p[k] / sum * decimals)
		left -= p[k]
	}
	p[slices.Index(p, slices.Max(p))] += left
	for k := range p {
		p[k] /= decimals
	}
	return p
}

// FormatProportions writes proportions as ParseProportions reads them.
func FormatProportions(p []float64) string {
	items := make([]string, len(p))
	for k, v := range p {
		items[k] = strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strings.Join(items, ",")
}
