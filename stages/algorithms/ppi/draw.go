package ppi

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// A Part is a way in which rows are drawn.
type Part int

// Parts.
const (
	Uniform Part = iota // each row is as probable as any other
	Chosen              // in proportion to the size of the row
)

// A Draw is a row that was drawn.
type Draw struct {
	Row  int // from 0
	Part Part
	// Probability is that with which one of the parts draws the row (see Inclusion).
	Probability float64
}

// streams of random numbers.
const (
	streamUniform = iota + 0xa5c
	streamOrder
	streamStart
	streamMix
)

// Budget is how many draws each part gets of so many: half each, the odd one is uniform.
func Budget(draws int, uniform bool) (uniformly, chosen int) {
	if uniform {
		return draws, 0
	}
	return draws - draws/2, draws / 2
}

// leastSize is the least size of a row, as a share of the largest: so that any row may be drawn.
const leastSize = 1e-3

// Take draws rows in two parts: first uniformly without replacement, then, of the rows that are
// left, in proportion to their sizes, by systematic sampling in random order (Madow 1949). There
// is a size a row, at least 0. No row is drawn twice.
//
// The parts alternate, and each is in random order: so the first rows of the answer, however
// many, are uniform draws and chosen ones again.
func Take(sizes []float64, uniformly, chosen int, seed uint64) []Draw {
	n := len(sizes)
	random := func(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }
	sizes, uniformly = floored(sizes), min(uniformly, n)
	chosen = min(chosen, n-uniformly)
	p, left := Inclusion(sizes, uniformly, chosen), slices.Clone(sizes)
	var first, second []Draw
	for _, i := range dense.Sample(n, uniformly, func() *rand.Rand { return random(streamUniform) }) {
		first, left[i] = append(first, Draw{i, Uniform, p[i]}), 0
	}
	order := random(streamOrder).Perm(n)
	for _, i := range systematic(proportional(left, float64(chosen)), order, random(streamStart).Float64()) {
		second = append(second, Draw{i, Chosen, p[i]})
	}
	mix := random(streamMix)
	for _, part := range [][]Draw{first, second} {
		mix.Shuffle(len(part), func(a, b int) { part[a], part[b] = part[b], part[a] })
	}
	return alternate(first, second)
}

// floored are sizes of leastSize of the largest at least.
func floored(sizes []float64) []float64 {
	all, least := slices.Clone(sizes), 1.0
	if len(sizes) > 0 && slices.Max(sizes) > 0 {
		least = leastSize * slices.Max(sizes)
	}
	for i, s := range all {
		all[i] = max(s, least)
	}
	return all
}

// Inclusion are the probabilities with which rows of these sizes, all above 0, are drawn by one
// of the parts: uniformly, or else in proportion to their sizes among the rows that are left. The
// latter is as if all rows were left in part, so the probabilities are approximate, but add up to
// the number of draws.
func Inclusion(sizes []float64, uniformly, chosen int) []float64 {
	n := float64(len(sizes))
	share := float64(uniformly) / n
	p := proportional(sizes, float64(chosen)/max(1-share, 1/n))
	for i, c := range p {
		p[i] = share + (1-share)*c
	}
	return p
}

// proportional are probabilities in proportion to sizes but for those that would be above 1, so
// that they add up to total, or to the number of rows that have a size if there are fewer.
func proportional(sizes []float64, total float64) []float64 {
	p, order := make([]float64, len(sizes)), make([]int, 0, len(sizes))
	for i, s := range sizes {
		if s > 0 {
			order = append(order, i)
		}
	}
	sort.SliceStable(order, func(a, b int) bool { return sizes[order[a]] > sizes[order[b]] })
	from := make([]float64, len(order)+1) // sums of the sizes from k on
	for k, i := range slices.Backward(order) {
		from[k] = from[k+1] + sizes[i]
	}
	for k, i := range order {
		if sizes[i]*total < from[k] {
			for _, j := range order[k:] {
				p[j] = total * sizes[j] / from[k]
			}
			break
		}
		p[i] = 1
		total = max(0, total-1)
	}
	return p
}

// systematic draws rows whose probabilities add up to a whole number: those in whose part of
// the line there is a whole number after start, which is from 0 to 1.
func systematic(probabilities []float64, order []int, start float64) (rows []int) {
	sum := 0.0
	for _, i := range order {
		sum += probabilities[i]
	}
	draws, at := int(math.Round(sum)), 0.0
	for _, i := range order {
		if at += probabilities[i]; probabilities[i] > 0 && len(rows) < draws && at > start+float64(len(rows)) {
			rows = append(rows, i)
		}
	}
	for _, i := range slices.Backward(order) { // rounding may have left the last one out
		if len(rows) < draws && probabilities[i] > 0 && !slices.Contains(rows, i) {
			rows = append(rows, i)
		}
	}
	return rows
}

// PartOf is the part of draw i, from 0, where the parts have so many: each is spread over the
// whole.
func PartOf(i, uniformly, chosen int) Part {
	n := uniformly + chosen
	before := func(i int) int { return (2*i*uniformly + n) / (2 * n) } // uniform draws, rounded
	if before(i+1) > before(i) {
		return Uniform
	}
	return Chosen
}

// Reached is how many of the first draws each part has.
func Reached(first, uniformly, chosen int) (u, c int) {
	for i := range first {
		if PartOf(i, uniformly, chosen) == Uniform {
			u++
		} else {
			c++
		}
	}
	return u, c
}

// alternate mixes two parts as PartOf says.
func alternate(uniform, chosen []Draw) []Draw {
	var all []Draw
	n, m := len(uniform), len(chosen)
	for i := range n + m {
		from := &chosen
		if PartOf(i, n, m) == Uniform {
			from = &uniform
		}
		all, *from = append(all, (*from)[0]), (*from)[1:]
	}
	return all
}
