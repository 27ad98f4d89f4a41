package boosting

import (
	"math/bits"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// A scan finds the leaves of many rows at once: all rows meet a condition before the next, each
// crosses out the leaves that rows to its right cannot be in, and the first leaf that is left is
// a row's (QuickScorer: Lucchese et al. 2015). No row waits for what another does, as it would on a
// walk from the root.
type scan struct {
	conditions []condition
	values     []float32 // of the leaves, from left to right
}

// A condition is that of an inner node.
type condition struct {
	node
	leaves uint32 // on its left
}

// mostScanned is how many leaves a tree has at most that is scanned: one a bit.
const mostScanned = 32

// newScan returns nil of a tree of too many leaves.
func newScan(nodes []node) *scan {
	leaves := min(len(nodes)/2+1, mostScanned)
	s := &scan{make([]condition, 0, leaves), make([]float32, 0, leaves)}
	if s.add(nodes, 0); len(s.values) > mostScanned {
		return nil
	}
	return s
}

// add adds the nodes from one on, and returns their leaves. It ends where there are too many: in a
// file nodes may have more than one parent, and then there are more ways than nodes.
func (s *scan) add(nodes []node, i int32) (leaves uint32) {
	if len(s.values) > mostScanned {
		return 0
	}
	n := nodes[i]
	if n.left == 0 {
		s.values = append(s.values, n.value)
		return 1 << (len(s.values) - 1)
	}
	left := s.add(nodes, n.left)
	s.conditions = append(s.conditions, condition{n, left})
	return left | s.add(nodes, n.left+1)
}

// blockRows is how many rows are scanned together.
const blockRows = 256

// block are some rows, and their values column by column.
type block struct {
	rows    blas32.General
	columns []float32
}

func blocksOf(x blas32.General) []block {
	blocks := make([]block, (x.Rows+blockRows-1)/blockRows)
	kernel.Parallel(len(blocks), 1, func(lo, hi int) {
		for b := lo; b < hi; b++ {
			rows := dense.Rows(x, b*blockRows, min((b+1)*blockRows, x.Rows))
			blocks[b] = block{rows, make([]float32, rows.Rows*rows.Cols)}
			for i := range rows.Rows {
				for j, v := range dense.Row(rows, i) {
					blocks[b].columns[j*rows.Rows+i] = v
				}
			}
		}
	})
	return blocks
}

// addRounds adds the values of rounds lo to hi to the logits of all blocks.
func (m *Model) addRounds(scores blas32.General, blocks []block, lo, hi int) {
	trees := m.trees[lo*m.perRound() : hi*m.perRound()]
	kernel.Parallel(len(blocks), 1, func(begin, end int) {
		var gone [blockRows]uint32
		for b := begin; b < end; b++ {
			own := scores.Data[b*blockRows*scores.Stride:]
			for _, t := range trees {
				t.addTo(own[t.class:], scores.Stride, blocks[b], gone[:])
			}
		}
	})
}

// addTo adds the values of the tree for a block to every step-th of scores. What was in gone does not count.
func (t tree) addTo(scores []float32, step int, b block, gone []uint32) {
	n := b.rows.Rows
	if t.scan == nil {
		for i := range n {
			scores[i*step] += valueOf(t.nodes, dense.Row(b.rows, i))
		}
		return
	}
	gone = gone[:n]
	clear(gone)
	for _, c := range t.conditions {
		kernel.Mark(gone, b.columns[int(c.column)*n:][:n], c.value, c.leaves, !c.missingLeft)
	}
	for i, leaves := range gone {
		scores[i*step] += t.values[bits.TrailingZeros32(^leaves)]
	}
}

// valueOf is the value of the leaf that the row is in.
func valueOf(nodes []node, row []float32) float32 {
	n := &nodes[0]
	for n.left > 0 {
		v, right := row[n.column], int32(0)
		if v > n.value {
			right = 1
		}
		if v != v && !n.missingLeft {
			right = 1
		}
		n = &nodes[n.left+right]
	}
	return n.value
}
