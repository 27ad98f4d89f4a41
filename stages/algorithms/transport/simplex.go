package transport

import (
	"context"
	"math"
)

// basis is the spanning tree of a network simplex: nodes 0…n−1 are sources,
// the others are sinks, and the last sink is the root. Each node holds the arc
// to its parent. Arcs lead from source to sink.
//
// The tree stays strongly feasible: an arc without flow leads towards the root,
// so its lower node is a source.
type basis struct {
	*subproblem
	parent, depth         []int
	child, next, previous []int // first child and siblings, −1 for none
	flow                  []int64
	arcCost               []float64
	potential             []float64 // the cost of a tree arc is the sum of those of its ends
	tolerance             float64   // reduced costs above −tolerance count as 0
	position              int       // where the search for an arc continues
	stack                 []int
}

// newBasis builds the tree of the north-west corner rule: it walks through the
// cost matrix from the first source and sink to the last, and sends on each arc
// all that the source or the sink has left. When both have nothing left it goes
// to the next sink first, which makes the tree strongly feasible.
func newBasis(p *subproblem) *basis {
	nodes := p.n + p.m
	t := &basis{
		subproblem: p,
		parent:     make([]int, nodes), depth: make([]int, nodes),
		child: none(nodes), next: none(nodes), previous: none(nodes),
		flow: make([]int64, nodes), arcCost: make([]float64, nodes), potential: make([]float64, nodes),
		// A potential is a sum of at most n+m costs.
		tolerance: 4 * 0x1p-52 * float64(nodes) * p.largest,
	}
	root := nodes - 1
	t.parent[root] = -1
	supply, demand := p.supply[0], p.demand[0]
	for i, j := 0, 0; i < p.n; {
		if j < p.m-1 && demand <= supply {
			t.hang(p.n+j, i, i*p.m+j, demand)
			supply -= demand
			j++
			demand = p.demand[j]
			continue
		}
		t.hang(i, p.n+j, i*p.m+j, supply)
		demand -= supply
		if i++; i < p.n {
			supply = p.supply[i]
		}
	}
	t.refresh(root)
	return t
}

// none returns a slice of n values −1.
func none(n int) []int { return filled(n, -1) }

// hang makes node a child of parent by an arc that has flow.
func (t *basis) hang(node, parent, arc int, flow int64) {
	t.parent[node], t.flow[node], t.arcCost[node] = parent, flow, t.cost[arc]
	t.previous[node], t.next[node] = -1, t.child[parent]
	if t.next[node] >= 0 {
		t.previous[t.next[node]] = node
	}
	t.child[parent] = node
}

// cut removes node from the children of its parent.
func (t *basis) cut(node int) {
	if p := t.previous[node]; p >= 0 {
		t.next[p] = t.next[node]
	} else {
		t.child[t.parent[node]] = t.next[node]
	}
	if n := t.next[node]; n >= 0 {
		t.previous[n] = t.previous[node]
	}
}

// refresh computes depth and potential of node, unless it is the root, and of
// all nodes below it, from those of its parent. Potentials are not updated from
// pivot to pivot, so rounding errors do not grow.
func (t *basis) refresh(node int) {
	t.stack = append(t.stack[:0], node)
	for len(t.stack) > 0 {
		k := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		if p := t.parent[k]; p >= 0 {
			t.depth[k], t.potential[k] = t.depth[p]+1, t.arcCost[k]-t.potential[p]
		}
		for c := t.child[k]; c >= 0; c = t.next[c] {
			t.stack = append(t.stack, c)
		}
	}
}

// isSource reports whether node is a source.
func (t *basis) isSource(node int) bool { return node < t.n }

// arc returns the source and the sink of node's arc, both counted from 0.
func (t *basis) arc(node int) (source, sink int) {
	if t.isSource(node) {
		return node, t.parent[node] - t.n
	}
	return t.parent[node], node - t.n
}

// optimise pivots until no arc has a negative reduced cost, and returns the
// number of pivots.
func (t *basis) optimise(ctx context.Context) (pivots int, err error) {
	for ; ; pivots++ {
		if err := ctx.Err(); err != nil {
			return pivots, err
		}
		arc := t.entering()
		if arc < 0 {
			return pivots, nil
		}
		t.pivot(arc)
	}
}

// entering searches blocks of arcs, from where the last search ended, for a
// negative reduced cost. It returns the arc with the most negative one of the
// first block that has any, or −1 if there is none at all.
func (t *basis) entering() int {
	arcs := t.n * t.m
	block := max(10, int(math.Sqrt(float64(arcs))))
	for scanned := 0; scanned < arcs; {
		best, least := -1, -t.tolerance
		for range block {
			i, j := t.position/t.m, t.position%t.m
			if r := t.cost[t.position] - t.potential[i] - t.potential[t.n+j]; r < least {
				best, least = t.position, r
			}
			if t.position++; t.position == arcs {
				t.position = 0
			}
		}
		if best >= 0 {
			return best
		}
		scanned += block
	}
	return -1
}

// pivot sends as much flow as possible around the cycle that arc closes with
// the tree. Then arc replaces an arc of the cycle that is now without flow.
func (t *basis) pivot(arc int) {
	source, sink := arc/t.m, t.n+arc%t.m
	apex := t.apex(source, sink)
	leaving, flow, fromSource := t.leaving(source, sink, apex)
	t.push(source, apex, flow, true)
	t.push(sink, apex, flow, false)
	if fromSource {
		t.rehang(source, sink, leaving, arc, flow)
	} else {
		t.rehang(sink, source, leaving, arc, flow)
	}
}

// apex returns the lowest common ancestor of two nodes.
func (t *basis) apex(a, b int) int {
	for a != b {
		if t.depth[a] >= t.depth[b] {
			a = t.parent[a]
		} else {
			b = t.parent[b]
		}
	}
	return a
}

// leaving returns the node whose arc limits the flow around the cycle, that
// flow, and whether the node is on the side of source. On that side the flow
// falls on arcs whose lower node is a source, on the other side on arcs whose
// lower node is a sink. If several arcs limit it, leaving takes the last one on
// the way from apex along the cycle, in the direction of the new arc. This keeps
// the tree strongly feasible.
func (t *basis) leaving(source, sink, apex int) (node int, flow int64, fromSource bool) {
	flow = math.MaxInt64
	for k := source; k != apex; k = t.parent[k] {
		if t.isSource(k) && t.flow[k] < flow {
			node, flow, fromSource = k, t.flow[k], true
		}
	}
	for k := sink; k != apex; k = t.parent[k] {
		if !t.isSource(k) && t.flow[k] <= flow {
			node, flow, fromSource = k, t.flow[k], false
		}
	}
	return node, flow, fromSource
}

// push changes the flow of the arcs between node and apex. With emptySources it
// falls where the lower node is a source and rises elsewhere; without, it rises
// there and falls elsewhere.
func (t *basis) push(node, apex int, flow int64, emptySources bool) {
	for k := node; k != apex; k = t.parent[k] {
		if t.isSource(k) == emptySources {
			t.flow[k] -= flow
		} else {
			t.flow[k] += flow
		}
	}
}

// rehang cuts the arc of node leaving. It makes top, a node of the part that is
// cut off, the root of that part and hangs it under parent by arc.
func (t *basis) rehang(top, parent, leaving, arc int, flow int64) {
	for k := top; ; {
		above, oldFlow, oldArc := t.parent[k], t.flow[k], t.arcIndex(k)
		t.cut(k)
		t.hang(k, parent, arc, flow)
		if k == leaving {
			break
		}
		k, parent, arc, flow = above, k, oldArc, oldFlow
	}
	t.refresh(top)
}

// arcIndex returns the index of node's arc in cost.
func (t *basis) arcIndex(node int) int {
	source, sink := t.arc(node)
	return source*t.m + sink
}
