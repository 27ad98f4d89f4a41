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
	// Probability is that with which its part draws the row: of a chosen row among all that the
	// uniform part has not drawn.
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

// Take draws rows in two parts: first uniformly without replacement, then, of the rows that are
// left, in proportion to their sizes, by systematic sampling in random order (Madow 1949). A
// size is at least 0, and there is one a row; rows of size 0 are drawn uniformly alone. No row
// is drawn twice. If there are fewer rows of a size than are to be chosen, all are.
//
// The parts alternate, and each is in random order: so the first rows of the answer, however
// many, are uniform draws and chosen ones again, whose probabilities are those of the whole
// times the share of their part that is there.
func Take(sizes []float64, uniformly, chosen int, seed uint64) []Draw {
	n := len(sizes)
	random := func(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }
	uniformly = min(uniformly, n)
	var first, second []Draw
	taken := make([]bool, n)
	for _, i := range dense.Sample(n, uniformly, func() *rand.Rand { return random(streamUniform) }) {
		first, taken[i] = append(first, Draw{i, Uniform, float64(uniformly) / float64(n)}), true
	}
	left := slices.Clone(sizes)
	for i := range left {
		if taken[i] {
			left[i] = 0
		}
	}
	probabilities := Inclusion(left, chosen)
	order := random(streamOrder).Perm(n)
	for _, i := range systematic(probabilities, order, random(streamStart).Float64()) {
		second = append(second, Draw{i, Chosen, probabilities[i]})
	}
	mix := random(streamMix)
	for _, part := range [][]Draw{first, second} {
		mix.Shuffle(len(part), func(a, b int) { part[a], part[b] = part[b], part[a] })
	}
	return alternate(first, second)
}

// Inclusion are the probabilities with which rows of these sizes are drawn, in proportion to
// them but for those that would be above 1, so that they add up to draws, or to the number of
// rows that have a size if there are fewer.
func Inclusion(sizes []float64, draws int) []float64 {
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
	left := min(draws, len(order))
	for k, i := range order {
		if left == 0 || sizes[i]*float64(left) < from[k] {
			for _, j := range order[k:] {
				p[j] = float64(left) * sizes[j] / from[k]
			}
			break
		}
		p[i] = 1
		left--
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
	if u := (i*uniformly + uniformly + chosen - 1) / (uniformly + chosen); (i+1)*uniformly > u*(uniformly+chosen) {
		return Uniform
	}
	return Chosen
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
