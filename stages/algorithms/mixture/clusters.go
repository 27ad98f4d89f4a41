package mixture

import (
	"context"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// clusters holds the clusters that are left during an agglomeration, in slots.
// Slots start in the order of the rows, and a union takes the later of its two
// slots, as in scipy, so that ties are decided in the same way. The other slot
// has size 0 until the next compaction.
//
// The search for the nearest cluster is in float32, on means that are moved and
// scaled into the unit ball. The clusters that rounding leaves as candidates
// are then compared in float64. Shortlists avoid most searches.
type clusters struct {
	d, live int
	size    []float64
	row     []int  // by slot: the first row of the cluster, which is its name
	slot    []int  // by row: the slot of the cluster with that name
	members forest // which rows are in one cluster
	lists   *shortlists
	mean    []float64 // slots×d
	scan    []float32 // slots×d: (mean − origin)/radius
	origin  []float64
	radius  float64
	query   []float32 // scratch: one of the scanned means
	near    []float32 // scratch: squared distances from query to all means
	// relative and absolute bound the error e of a squared distance s in
	// near: |e| <= relative·s + absolute.
	relative, absolute float64
}

func newClusters(ctx context.Context, x blas32.General) (*clusters, error) {
	n, d := x.Rows, x.Cols
	c := &clusters{
		d: d, live: n, size: make([]float64, n), row: make([]int, n), slot: make([]int, n), members: newForest(n),
		mean: make([]float64, n*d), scan: make([]float32, n*d), near: make([]float32, n),
		origin: dense.ColumnMeans(x),
	}
	for i := range n {
		c.size[i], c.row[i], c.slot[i] = 1, i, i
		widen(c.mean[i*d:(i+1)*d], dense.Row(x, i))
		c.radius = max(c.radius, squaredDistance(dense.Row(x, i), c.origin))
	}
	c.radius = math.Sqrt(c.radius)
	if c.radius == 0 {
		c.radius = 1
	}
	for i := range n {
		c.round(i)
	}
	c.boundError()
	var err error
	c.lists, err = newShortlists(ctx, c.scan, n, d)
	return c, err
}

// boundError sets relative and absolute. In the unit ball, rounding moves a
// mean by at most u = 2⁻²⁴, so it changes a difference of two means by at most
// 2u. We take e = 3u to allow for the rounding of origin and radius. Then a
// squared distance s is wrong by at most 2e·√s + e² <= γ·s + (1+1/γ)·e² for
// any γ, here 2⁻¹⁶. Adding d squares in any order adds the factor (d+2)·u.
func (c *clusters) boundError() {
	const u, gamma = 0x1p-24, 0x1p-16
	c.relative = gamma + float64(c.d+3)*u
	c.absolute = (1 + 1/gamma) * (3 * u) * (3 * u)
}

// round sets slot i of scan from its mean.
func (c *clusters) round(i int) {
	for j, v := range c.mean[i*c.d : (i+1)*c.d] {
		c.scan[i*c.d+j] = float32((v - c.origin[j]) / c.radius)
	}
}

// first returns the first slot with a cluster.
func (c *clusters) first() int {
	return slices.IndexFunc(c.size, func(n float64) bool { return n > 0 })
}

// weight is the factor that turns the squared distance of two means into
// Ward's squared height for clusters of m and n rows.
func weight(m, n float64) float64 { return 2 * m * n / (m + n) }

// squaredHeight returns Ward's squared height of slots i and j.
func (c *clusters) squaredHeight(i, j int) float64 {
	sum := 0.0
	other := c.mean[j*c.d : (j+1)*c.d]
	for a, v := range c.mean[i*c.d : (i+1)*c.d] {
		sum += (v - other[a]) * (v - other[a])
	}
	return weight(c.size[i], c.size[j]) * sum
}

// nearest returns the slot of least height with slot i, and that height
// squared. At a tie it prefers the slot before (unless that is −1), then the
// first slot, as scipy does.
func (c *clusters) nearest(i, before int) (slot int, squaredHeight float64) {
	best := candidate{slot: -1, squaredHeight: math.Inf(1)}
	if before >= 0 {
		best = candidate{before, c.squaredHeight(i, before), true}
	}
	if !c.searchShortlist(i, &best) {
		c.searchAll(i, &best)
	}
	return best.slot, best.squaredHeight
}

// candidate is the nearest slot found so far.
type candidate struct {
	slot          int
	squaredHeight float64
	preferred     bool // wins every tie
}

func (b *candidate) offer(slot int, squaredHeight float64) {
	tie := squaredHeight == b.squaredHeight && !b.preferred && slot < b.slot
	if squaredHeight < b.squaredHeight || tie {
		*b = candidate{slot: slot, squaredHeight: squaredHeight}
	}
}

// searchShortlist offers best the clusters on the shortlist of slot i. It
// reports whether best is then certain to be the nearest of all.
func (c *clusters) searchShortlist(i int, best *candidate) bool {
	reach := c.lists.reach[c.row[i]] * c.radius * c.radius
	if reach <= 0 {
		return false
	}
	seen := make([]int, 0, shortlistLength)
	for _, r := range c.lists.of(c.row[i]) {
		j := c.slot[c.members.find(int(r))]
		if j != i && !slices.Contains(seen, j) {
			seen = append(seen, j)
			best.offer(j, c.squaredHeight(i, j))
		}
	}
	return best.squaredHeight < reach
}

// searchAll offers best every cluster that may be the nearest, given the
// rounding of near, and makes a new shortlist of slot i.
func (c *clusters) searchAll(i int, best *candidate) {
	bound := c.scanFrom(i)
	list := newShortlist[float64](c.lists.of(c.row[i]), c.row[i])
	lightest := weight(c.size[i], 1)
	cut := math.Inf(1) // clusters beyond it need not be weighted
	for j, near := range c.near[:len(c.size)] {
		s := float64(near)
		if s > cut || c.size[j] == 0 || j == i {
			continue
		}
		least := weight(c.size[i], c.size[j]) * (s*(1-c.relative) - c.absolute)
		if least <= bound {
			best.offer(j, c.squaredHeight(i, j))
		}
		if least < list.limit {
			list.add(c.row[j], least)
			cut = (max(list.limit, bound)/lightest + c.absolute) / (1 - c.relative)
		}
	}
	c.lists.reach[c.row[i]] = list.limit
}

// scanFrom computes near for slot i and returns an upper bound of the least
// squared height, in units of the scaled means.
func (c *clusters) scanFrom(i int) float64 {
	const grain = 1 << 17 // values that make a goroutine worth starting
	c.query = append(c.query[:0], c.scan[i*c.d:(i+1)*c.d]...)
	bound := math.Inf(1)
	var mu sync.Mutex
	kernel.Parallel(len(c.size), max(1, grain/c.d), func(lo, hi int) {
		kernel.SquaredDistances(c.near[lo:hi], c.query, c.scan[lo*c.d:hi*c.d], hi-lo, c.d)
		part := c.leastBound(i, lo, hi)
		mu.Lock()
		bound = min(bound, part)
		mu.Unlock()
	})
	return bound
}

// leastBound returns the least upper bound of the squared heights of slot i
// with slots [lo, hi).
func (c *clusters) leastBound(i, lo, hi int) float64 {
	least, cut := math.Inf(1), math.Inf(1)
	lightest := weight(c.size[i], 1)
	for j := lo; j < hi; j++ {
		s := float64(c.near[j])
		if s >= cut || c.size[j] == 0 || j == i {
			continue
		}
		if bound := weight(c.size[i], c.size[j]) * (s*(1+c.relative) + c.absolute); bound < least {
			least = bound
			cut = (least/lightest - c.absolute) / (1 + c.relative)
		}
	}
	return least
}

// join merges two slots into the higher one.
func (c *clusters) join(i, j int) {
	i, j = min(i, j), max(i, j)
	m, n := c.size[i], c.size[j]
	gone, kept := c.mean[i*c.d:(i+1)*c.d], c.mean[j*c.d:(j+1)*c.d]
	for a, v := range gone {
		kept[a] = (m*v + n*kept[a]) / (m + n)
	}
	c.size[i], c.size[j] = 0, m+n
	c.live--
	c.row[j] = c.members.union(c.row[i], c.row[j])
	c.slot[c.row[j]] = j
	c.lists.reach[c.row[j]] = 0
	c.round(j)
}

// compact removes slots without a cluster from chain and, once they are more
// than a quarter of all slots, from c. It returns the chain with the new slots.
func (c *clusters) compact(chain []int) []int {
	// By reducibility no cluster of the chain has been joined, but rounding at
	// a tie can cause it.
	chain = slices.DeleteFunc(chain, func(i int) bool { return c.size[i] == 0 })
	if 4*c.live >= 3*len(c.size) {
		return chain
	}
	moved := make([]int, len(c.size))
	next := 0
	for i, n := range c.size {
		if n == 0 {
			continue
		}
		moved[i] = next
		c.size[next], c.row[next] = n, c.row[i]
		c.slot[c.row[i]] = next
		copy(c.mean[next*c.d:(next+1)*c.d], c.mean[i*c.d:(i+1)*c.d])
		copy(c.scan[next*c.d:(next+1)*c.d], c.scan[i*c.d:(i+1)*c.d])
		next++
	}
	c.size, c.row = c.size[:next], c.row[:next]
	for k, i := range chain {
		chain[k] = moved[i]
	}
	return chain
}
