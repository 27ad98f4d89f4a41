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
	sorted := make([]int32, len(values)) // as whole numbers, which are faster to compare
	for i, v := range values {
		sorted[i] = ordered(v)
	}
	slices.Sort(sorted)
	var b Bins
	for i := 1; i < maxBins && len(sorted) > 0; i++ {
		edge := number(sorted[i*len(sorted)/maxBins])
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

// A ranker is Bins laid out for ranking many values: a search for the bin by halves that
// sums on its way what the bins below have counted. It has no branch, which a processor
// would guess wrong half of the time.
type ranker struct {
	edges  [maxBins]int32 // as ordered makes them; beyond those there are, the greatest
	lower  [maxBins]int64 // at each edge, what the bins below it that the search divides there have counted
	counts [maxBins]int64
	all    int64
}

func (r *ranker) load(b *Bins) {
	*r = ranker{all: b.All}
	for i := range r.edges {
		r.edges[i] = math.MaxInt32
	}
	for i, edge := range b.Edges {
		r.edges[i] = ordered(edge)
	}
	for i, n := range b.Counts {
		r.counts[i] = n
		for at, step := 0, maxBins/2; step > 0; step /= 2 {
			if i >= at+step {
				at += step
			} else {
				r.lower[at+step-1] += n
			}
		}
	}
}

func (r *ranker) save(b *Bins) {
	copy(b.Counts, r.counts[:])
	b.All = r.all
}

// ordered is a whole number that is less for lesser values, and the same for both zeros.
func ordered(v float32) int32 {
	bits := int32(math.Float32bits(v + 0))
	return bits ^ int32(uint32(bits>>31)>>1)
}

// number is the inverse of ordered.
func number(key int32) float32 {
	return math.Float32frombits(uint32(key ^ int32(uint32(key>>31)>>1)))
}

// count counts a value. It returns its bin and how many were counted in those below.
func (r *ranker) count(v float32) (at int, below int64) {
	key := int64(ordered(v))
	for step := maxBins / 2; step > 0; step /= 2 {
		edge := (at + step - 1) & (maxBins - 1)
		under := (key - int64(r.edges[edge])) >> 63 // -1 if the value is below the edge, or 0
		below += r.lower[edge] &^ under
		r.lower[edge] -= under
		at += step &^ int(under)
	}
	r.counts[at&(maxBins-1)]++
	r.all++
	return at, below
}

// rank counts a value and returns its smoothed p-value among all that were counted: the
// share that is below it, and of its equals the part u, from 0 to 1.
func (r *ranker) rank(v float32, u float64) float64 {
	at, below := r.count(v)
	return (float64(below) + u*float64(r.counts[at&(maxBins-1)])) / float64(r.all)
}
