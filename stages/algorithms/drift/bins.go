package drift

import (
	"math"
	"slices"
)

// maxBins is how many bins a score has at most.
const maxBins = 64

// Bins count how often a score was where.
type Bins struct {
	Edges  []float32 // rising: bin b is from edge b−1 on, to below edge b
	Counts []int64   // one more than edges
	All    int64
}

// newBins makes bins that the values fill alike, and counts none of them.
func newBins(values []float32) Bins {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	var b Bins
	for i := 1; i < maxBins && len(sorted) > 0; i++ {
		edge := sorted[i*len(sorted)/maxBins]
		if n := len(b.Edges); n > 0 && edge <= b.Edges[n-1] { // many are equal: these have a bin of their own
			edge = math.Nextafter32(edge, float32(math.Inf(1)))
		}
		if n := len(b.Edges); n == 0 || edge > b.Edges[n-1] {
			b.Edges = append(b.Edges, edge)
		}
	}
	b.Counts = make([]int64, len(b.Edges)+1)
	return b
}

// of is the bin of a value: how many edges are not above it.
func (b *Bins) of(v float32) int {
	low, n := 0, len(b.Edges)
	for n > 0 { // slices.BinarySearch without its care for NaN, which no score is
		half := n / 2
		if b.Edges[low+half] <= v {
			low += half + 1
			n -= half + 1
		} else {
			n = half
		}
	}
	return low
}

// rank counts a value and returns its smoothed p-value among all that were counted: the
// share that is below it, and of its equals the part u, from 0 to 1.
func (b *Bins) rank(v float32, u float64) float64 {
	at := b.of(v)
	b.Counts[at]++
	b.All++
	below := int64(0)
	for _, n := range b.Counts[:at] {
		below += n
	}
	return (float64(below) + u*float64(b.Counts[at])) / float64(b.All)
}
