package tsne

import (
	"math"
	"math/bits"

	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// tree is a quadtree of points in the plane. Its cells are in preorder, so that a walk
// that skips what lies below a cell goes on at the cell's next.
type tree struct {
	points []point // in the order of a Morton curve
	cells  []cell
	leaves []int32 // the cells without cells below, in order

	codes, codes2 []uint64
	order, order2 []int32
}

// point is a point with its row.
type point struct {
	x, y float64
	row  int32
}

// cell holds the points [lo, hi) of the tree.
type cell struct {
	x, y  float64 // their mean
	width float64 // the longer side of the box that they fill
	mass  float64 // how many they are
	next  int32   // the cell that follows when all below are skipped
	lo    int32
	hi    int32
	leaf  bool
}

const (
	// leafPoints is how many points a cell has at most before it is divided. It is also
	// how many walk through the tree together: of 8, 16 and 32, 16 took the least time with 20,000 points.
	leafPoints = 16
	// levels is the number of divisions at most, and of bits of each coordinate.
	levels = 24
	// grain is the least number of leaves for a thread.
	grain = 16
)

// build makes the tree of y (n×2, finite).
func (t *tree) build(y []float64) {
	t.sort(y)
	t.cells, t.leaves = t.cells[:0], t.leaves[:0]
	t.divide(0, int32(len(t.points)), 0)
}

// sort puts the points in the order of their Morton codes: the bits of both coordinates
// by turns, on a grid over their square.
func (t *tree) sort(y []float64) {
	n := len(y) / 2
	if len(t.points) != n {
		t.points = make([]point, n)
		t.codes, t.codes2 = make([]uint64, n), make([]uint64, n)
		t.order, t.order2 = make([]int32, n), make([]int32, n)
	}
	lowX, highX, lowY, highY := y[0], y[0], y[1], y[1]
	for i := range n {
		lowX, highX = min(lowX, y[2*i]), max(highX, y[2*i])
		lowY, highY = min(lowY, y[2*i+1]), max(highY, y[2*i+1])
	}
	scale := 0.0
	if side := max(highX-lowX, highY-lowY); side > 0 {
		scale = (1<<levels - 1) / side
	}
	for i := range n {
		t.codes[i] = spread(uint64((y[2*i]-lowX)*scale)) | spread(uint64((y[2*i+1]-lowY)*scale))<<1
		t.order[i] = int32(i)
	}
	t.radix()
	for i, row := range t.order {
		t.points[i] = point{y[2*row], y[2*row+1], row}
	}
}

// spread puts a 0 before each of the low 32 bits.
func spread(v uint64) uint64 {
	v = (v | v<<16) & 0x0000FFFF0000FFFF
	v = (v | v<<8) & 0x00FF00FF00FF00FF
	v = (v | v<<4) & 0x0F0F0F0F0F0F0F0F
	v = (v | v<<2) & 0x3333333333333333
	return (v | v<<1) & 0x5555555555555555
}

// radix sorts codes, and order with them; equal codes keep their order.
func (t *tree) radix() {
	const digit = 12 // bits: four passes
	for shift := 0; shift < 2*levels; shift += digit {
		var start [1<<digit + 1]int32
		for _, c := range t.codes {
			start[c>>shift&(1<<digit-1)+1]++
		}
		for d := range 1 << digit {
			start[d+1] += start[d]
		}
		for i, c := range t.codes {
			to := &start[c>>shift&(1<<digit-1)]
			t.codes2[*to], t.order2[*to] = c, t.order[i]
			*to++
		}
		t.codes, t.codes2 = t.codes2, t.codes
		t.order, t.order2 = t.order2, t.order
	}
}

// divide adds the cell of the points [lo, hi), whose codes agree in the first level pairs
// of bits, and the cells below.
func (t *tree) divide(lo, hi int32, level int) {
	at := len(t.cells)
	t.cells = append(t.cells, t.cell(lo, hi))
	// Bits that all codes share divide nothing.
	shared := (bits.LeadingZeros64(t.codes[lo]^t.codes[hi-1]) - (64 - 2*levels)) / 2
	if level = max(level, shared); hi-lo <= leafPoints || level >= levels {
		t.cells[at].leaf, t.cells[at].next = true, int32(at+1)
		t.leaves = append(t.leaves, int32(at))
		return
	}
	shift := 2 * (levels - 1 - level)
	for from := lo; from < hi; {
		to := from + 1
		for to < hi && t.codes[to]>>shift == t.codes[from]>>shift {
			to++
		}
		t.divide(from, to, level+1)
		from = to
	}
	t.cells[at].next = int32(len(t.cells))
}

// cell sums up the points [lo, hi).
func (t *tree) cell(lo, hi int32) cell {
	first := t.points[lo]
	lowX, highX, lowY, highY := first.x, first.x, first.y, first.y
	sumX, sumY := 0.0, 0.0
	for _, p := range t.points[lo:hi] {
		sumX, sumY = sumX+p.x, sumY+p.y
		lowX, highX = min(lowX, p.x), max(highX, p.x)
		lowY, highY = min(lowY, p.y), max(highY, p.y)
	}
	mass := float64(hi - lo)
	return cell{x: sumX / mass, y: sumY / mass, width: max(highX-lowX, highY-lowY), mass: mass, lo: lo, hi: hi}
}

// body is what pushes a point: a cell as one, or another point.
type body struct{ x, y, mass float64 }

// repel sets force (n×2) to Σ_j q_ij²·(y_i − y_j) and returns Z = Σ_{i≠j} q_ij, where
// q_ij = 1/(1 + |y_i − y_j|²). The points of a leaf walk through the tree together: a
// cell counts as one if its width is below theta times its distance from the box of the
// leaf, so theta is kept for each of them. z is scratch space of n values. The sums of
// each point are in the order of the tree, so they do not depend on the number of threads.
func (t *tree) repel(force, z []float64, theta float64) float64 {
	kernel.Parallel(len(t.leaves), grain, func(lo, hi int) {
		var bodies []body
		for _, leaf := range t.leaves[lo:hi] {
			points := t.points[t.cells[leaf].lo:t.cells[leaf].hi]
			bodies = t.around(bodies[:0], points, theta)
			for _, p := range points {
				var x, y float64
				x, y, z[p.row] = push(p.x, p.y, bodies)
				force[2*p.row], force[2*p.row+1] = x, y
			}
		}
	})
	sum := 0.0
	for _, v := range z {
		sum += v
	}
	return sum
}

// around appends what pushes the given points, which are near each other.
func (t *tree) around(bodies []body, points []point, theta float64) []body {
	lowX, highX, lowY, highY := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, p := range points {
		lowX, highX = min(lowX, p.x), max(highX, p.x)
		lowY, highY = min(lowY, p.y), max(highY, p.y)
	}
	squared := theta * theta
	for at := 0; at < len(t.cells); {
		c := &t.cells[at]
		dx := max(lowX-c.x, c.x-highX, 0)
		dy := max(lowY-c.y, c.y-highY, 0)
		switch {
		case c.width*c.width < squared*(dx*dx+dy*dy):
			bodies = append(bodies, body{c.x, c.y, c.mass})
			at = int(c.next)
		case c.leaf:
			for _, p := range t.points[c.lo:c.hi] {
				bodies = append(bodies, body{p.x, p.y, 1})
			}
			at++
		default:
			at++
		}
	}
	return bodies
}

// push returns the force of bodies, of which one is the point itself, and the sum of its
// similarities to the others.
func push(x, y float64, bodies []body) (forceX, forceY, sum float64) {
	for i := range bodies {
		b := &bodies[i]
		dx, dy := x-b.x, y-b.y
		q := 1 / (1 + dx*dx + dy*dy)
		mq := b.mass * q
		sum += mq
		mq *= q
		forceX += mq * dx
		forceY += mq * dy
	}
	return forceX, forceY, sum - 1
}
