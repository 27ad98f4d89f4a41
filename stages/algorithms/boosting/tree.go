package boosting

import (
	"math/rand/v2"
	"slices"

	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// A node of a tree. Its children are neighbours.
type node struct {
	column      int32
	left        int32   // the left child: after the node; 0 of a leaf
	value       float32 // of a leaf; of others the threshold: values up to it go left
	missingLeft bool
}

// leaf is a leaf of a tree that grows, with the rows lo to hi of the grower's.
type leaf struct {
	node, lo, hi int
	total        sums
	bins         histogram // nil if it cannot be split
	split        split
}

// grower grows trees on the same rows.
type grower struct {
	splitter
	*binned
	leaves  int
	shrink  float64
	columns []int // that the tree may use

	row     []int32 // all rows, those of each leaf together
	aside   []int32
	each    []sums // of each row
	ordered []sums // of the rows of a leaf, in their order
	found   [2][]split
	unused  []histogram
	grown   []leaf // of the tree that grows
}

func newGrower(b *binned, o Options, largest float64) *grower {
	f := newFixed(b.rows, largest)
	g := &grower{splitter: splitter{f, o.MinRows, o.L2 * f.hessian}, binned: b, leaves: o.Leaves, shrink: o.LearningRate,
		row: make([]int32, b.rows), aside: make([]int32, b.rows), each: make([]sums, b.rows), ordered: make([]sums, b.rows)}
	g.found = [2][]split{make([]split, len(b.cuts)), make([]split, len(b.cuts))}
	return g
}

// choose draws the columns of the next tree: that share of all, at least one.
func (g *grower) choose(share float64, rng *rand.Rand) {
	all := rng.Perm(len(g.cuts))
	g.columns = all[:max(1, min(len(all), int(share*float64(len(all))+0.5)))]
	slices.Sort(g.columns)
}

// grow returns a tree for the sums of each, which are total in all, and adds its values to scores.
func (g *grower) grow(total sums, scores []float32) []node {
	for i := range g.row {
		g.row[i] = int32(i)
	}
	nodes, leaves := []node{{}}, append(g.grown[:0], leaf{hi: len(g.row), total: total})
	g.look(&leaves[0], nil)
	for len(leaves) < g.leaves {
		i := mostGain(leaves)
		if leaves[i].split.gain <= 0 {
			break
		}
		parent := leaves[i]
		left, right := g.part(parent, len(nodes))
		nodes[parent.node] = g.inner(parent.split, len(nodes))
		nodes = append(nodes, node{}, node{})
		leaves = append(leaves, right)
		leaves[i] = left
		if len(leaves) < g.leaves {
			g.lookBoth(parent.bins, &leaves[i], &leaves[len(leaves)-1])
		} else {
			g.release(parent.bins)
		}
	}
	g.grown = leaves
	for _, l := range leaves {
		value := float32(g.shrink * g.step(l.total))
		nodes[l.node].value = value
		for _, r := range g.row[l.lo:l.hi] {
			scores[r] += value
		}
		g.release(l.bins)
	}
	return nodes
}

func mostGain(leaves []leaf) (best int) {
	for i, l := range leaves {
		if l.split.gain > leaves[best].split.gain {
			best = i
		}
	}
	return best
}

// inner is the node of a split whose children are first and the one after it.
func (g *grower) inner(s split, first int) node {
	return node{int32(s.column), int32(first), g.cuts.threshold(s.column, s.bin), s.missingLeft}
}

// part parts the rows of a leaf by its split, in their order.
func (g *grower) part(l leaf, first int) (left, right leaf) {
	codes, last := g.binned.columns[l.split.column], len(g.cuts[l.split.column])+1
	if l.split.missingLeft {
		last--
	}
	lowest := uint8(l.split.bin + 1) // codes from it to last go right
	others := uint8(last) - lowest
	at, aside := l.lo, 0
	for _, r := range g.row[l.lo:l.hi] { // without a branch, which would often be guessed wrong
		right := 0
		if codes[r]-lowest <= others {
			right = 1
		}
		g.row[at], g.aside[aside] = r, r
		at += 1 - right
		aside += right
	}
	copy(g.row[at:], g.aside[:aside])
	return leaf{node: first, lo: l.lo, hi: at, total: l.split.left},
		leaf{node: first + 1, lo: at, hi: l.hi, total: l.total.less(l.split.left)}
}

// lookBoth finds the splits of two leaves whose parent has these bins.
func (g *grower) lookBoth(parent histogram, left, right *leaf) {
	small, large := left, right
	if large.hi-large.lo < small.hi-small.lo {
		small, large = right, left
	}
	if g.canSplit(large) {
		large.bins = parent
		g.look(small, large)
	} else {
		g.release(parent)
	}
}

// canSplit reports whether both children of a leaf would have rows enough.
func (g *grower) canSplit(l *leaf) bool { return l.hi-l.lo >= 2*g.minRows }

// look finds the split of a leaf, and of its sibling, which has the bins of their parent.
func (g *grower) look(l, sibling *leaf) {
	l.bins = g.borrow()
	rows, alone := g.row[l.lo:l.hi], sibling == nil
	ordered := g.each
	if len(rows) < len(g.each) {
		ordered = g.ordered
		for i, r := range rows {
			ordered[i] = g.each[r]
		}
	}
	kernel.Parallel(len(g.columns), 1+partRows/(len(rows)+1), func(lo, hi int) {
		g.fill(l.bins, g.columns[lo:hi], rows, ordered)
		var least [2]float64 // that a better split must gain
		for _, j := range g.columns[lo:hi] {
			start, end := g.starts[j], g.starts[j+1]
			if g.canSplit(l) {
				g.found[0][j] = g.best(j, l.bins[start:end], l.total, least[0])
				least[0] = max(least[0], g.found[0][j].gain)
			}
			if !alone {
				sibling.bins.subtract(l.bins, start, end)
				g.found[1][j] = g.best(j, sibling.bins[start:end], sibling.total, least[1])
				least[1] = max(least[1], g.found[1][j].gain)
			}
		}
	})
	if g.canSplit(l) {
		l.split = g.mostOf(g.found[0])
	}
	if !alone {
		sibling.split = g.mostOf(g.found[1])
	}
}

// fill sets the bins of some columns to the sums of rows, of which each row's are given in their order.
func (g *grower) fill(h histogram, columns []int, rows []int32, each []sums) {
	spare := g.starts[len(g.cuts)] // where the sums go of a column that has no other beside it
	for len(columns) > 0 {
		j, k, next := columns[0], columns[0], spare
		if columns = columns[1:]; len(columns) > 0 {
			k, columns = columns[0], columns[1:]
			next = g.starts[k]
		}
		clear(h[g.starts[j]:g.starts[j+1]])
		clear(h[next : next+g.starts[k+1]-g.starts[k]])
		h.fill(g.starts[j], next, g.binned.columns[j], g.binned.columns[k], rows, each)
	}
}

// partRows is how many values a thread adds to a histogram at least.
const partRows = 50_000

// mostOf is the split with the greatest gain, of the first column with it.
func (g *grower) mostOf(splits []split) (best split) {
	for _, j := range g.columns {
		if splits[j].gain > best.gain {
			best = splits[j]
		}
	}
	return best
}

func (g *grower) borrow() histogram {
	if n := len(g.unused); n > 0 {
		h := g.unused[n-1]
		g.unused = g.unused[:n-1]
		return h
	}
	return make(histogram, g.starts[len(g.cuts)]+2*spare)
}

func (g *grower) release(h histogram) {
	if h != nil {
		g.unused = append(g.unused, h)
	}
}
