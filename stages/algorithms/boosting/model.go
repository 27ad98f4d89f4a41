package boosting

import (
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// A Model is a sum of trees. Its methods do not change it.
type Model struct {
	Columns int       // of the rows that it takes
	Start   []float32 // logits before the first round, C
	// Losses are the mean logarithmic losses, in nats, of the rows that were held out, after each
	// round; nil if none were.
	Losses []float64

	trees []tree // those of each round together
}

// tree is one of a class.
type tree struct {
	class int
	nodes []node
	*scan // nil of a tree of too many leaves
}

func (m *Model) add(class int, nodes []node) {
	m.trees = append(m.trees, tree{class, nodes, newScan(nodes)})
}

// Rounds is how many rounds of trees the model has.
func (m *Model) Rounds() int { return len(m.trees) / m.perRound() }

// perRound is how many trees each round has.
func (m *Model) perRound() int {
	n := 1
	for n < len(m.trees) && m.trees[n].class > m.trees[n-1].class {
		n++
	}
	return n
}

// First returns the model of its first rounds; all, if it has fewer.
func (m *Model) First(rounds int) *Model {
	first := *m
	first.trees = m.trees[:min(len(m.trees), rounds*m.perRound())]
	return &first
}

// Best is after how many rounds the loss of the rows that were held out was least; all rounds if
// none were.
func (m *Model) Best() int {
	if m.Losses == nil {
		return m.Rounds()
	}
	return 1 + leastOf(m.Losses)
}

// Logits returns those of the rows of x (n×d), n×C. It panics if d is not Columns.
func (m *Model) Logits(x blas32.General) blas32.General {
	if x.Cols != m.Columns {
		panic("boosting: rows of another width")
	}
	scores := m.start(x.Rows)
	m.addRounds(scores, blocksOf(x), 0, m.Rounds())
	return scores
}

// Posteriors are the softmax of Logits.
func (m *Model) Posteriors(x blas32.General) blas32.General { return softmax(m.Logits(x)) }

// start are the logits of n rows before the first round.
func (m *Model) start(n int) blas32.General {
	scores := dense.New(n, len(m.Start))
	for i := range n {
		copy(dense.Row(scores, i), m.Start)
	}
	return scores
}

func softmax(logits blas32.General) blas32.General {
	p := dense.New(logits.Rows, logits.Cols)
	kernel.Softmax(p.Data, logits.Data, p.Rows, p.Cols)
	return p
}
