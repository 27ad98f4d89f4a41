package drift

import (
	"math"
	"slices"

	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// A Test looks for drift since the reference. It is made by NewTest; its fields are its
// whole state, for who saves it.
type Test struct {
	Seed    uint64
	Scores  int
	Weights []float64 // of the scores' bets, which sum to 1
	Windows int64     // after the reference
	Rows    int64     // that were ranked
	Bins    []Bins    // by score
	Wealth  []wealth  // by score
	Best    float64   // the greatest logarithm of the wealth of all so far, from 0 on
}

// NewTest starts from reference rows: n×scores numbers, one row after another, at least
// two. Every other row makes the edges of the bins, and the others are what the rows to
// come are ranked among. Weights are the scores' parts of the first wealth; nil: alike.
// Seed breaks ties.
func NewTest(reference []float32, scores int, weights []float64, seed uint64) *Test {
	if weights == nil {
		weights = make([]float64, scores)
		for j := range weights {
			weights[j] = 1 / float64(scores)
		}
	}
	t := &Test{Seed: seed, Scores: scores, Weights: weights}
	t.Bins, t.Wealth = make([]Bins, scores), make([]wealth, scores)
	n := len(reference) / scores
	kernel.Parallel(scores, 1, func(first, last int) {
		values := make([]float32, 0, n)
		for j := first; j < last; j++ {
			values = values[:0]
			for i := 0; i < n; i += 2 {
				values = append(values, reference[i*scores+j])
			}
			bins := newBins(values)
			var r ranker
			r.load(&bins)
			for i := 1; i < n; i += 2 {
				r.count(reference[i*scores+j])
			}
			r.save(&bins)
			t.Bins[j], t.Wealth[j] = bins, newWealth()
		}
	})
	return t
}

// Fits reports whether a test that was read from a file is one of so many scores.
func (t *Test) Fits(scores int) bool {
	return t.Scores == scores && len(t.Weights) == scores && len(t.Bins) == scores && len(t.Wealth) == scores &&
		!slices.ContainsFunc(t.Bins, func(b Bins) bool { return len(b.Edges) >= maxBins || len(b.Counts) != len(b.Edges)+1 }) &&
		!slices.ContainsFunc(t.Wealth, func(w wealth) bool { return len(w) != len(bets) })
}

// Add tests the rows of the next window, which may be a sample. The first wealth is in
// reserve: 1/(s(s+1)) of it is bet from window s = 1, 2, … on, so that a change is found
// soon however late it comes, and what has been lost before it does not matter.
func (t *Test) Add(rows []float32) {
	t.Windows++
	s := float64(t.Windows)
	t.play(rows, -math.Log(s*(s+1)))
	t.Best = max(t.Best, t.total())
}

// play invests an amount, a logarithm, and bets on rows.
func (t *Test) play(rows []float32, amount float64) {
	n := len(rows) / t.Scores
	kernel.Parallel(t.Scores, 1, func(first, last int) {
		p := make([]float64, n)
		var r ranker
		for j := first; j < last; j++ {
			t.Wealth[j].invest(amount + math.Log(t.Weights[j]))
			r.load(&t.Bins[j])
			start := Hash(t.Seed, uint64(j))
			for i := range p {
				u := uniform(mix(start ^ (uint64(t.Rows) + uint64(i)))) // Hash with one number more
				p[i] = r.rank(rows[i*t.Scores+j], u)
			}
			r.save(&t.Bins[j])
			t.Wealth[j].play(p)
		}
	})
	t.Rows += int64(n)
}

// total is the logarithm of all wealth, that in reserve included.
func (t *Test) total() float64 {
	sum := -math.Log(float64(t.Windows + 1))
	for _, w := range t.Wealth {
		sum = logAdd(sum, w.total())
	}
	return sum
}

// P is a p-value that holds for all windows together, at whichever it is looked at: if
// the rows are exchangeable with the reference, it ever falls to α or below with
// probability α at most.
func (t *Test) P() float64 { return math.Exp(-t.Best) }

// Most is the score whose bets have won most.
func (t *Test) Most() int { return most(t.Wealth) }

func most(all []wealth) int {
	best := 0
	for j, w := range all {
		if w.total() > all[best].total() {
			best = j
		}
	}
	return best
}

// A Step tests a window against the one before.
type Step struct {
	P    float64 // holds for all windows together, see Between
	Most int     // the score whose bets have won most
}

// Between tests whether window number s = 1, 2, … goes on as the one before, of which
// rows before are. Its p-value is that of this pair times s(s+1), whose inverses sum to 1:
// a bound on the probability that any pair of the stream's whole life gets so small a one
// while neighbouring windows are exchangeable, whatever the dependence of pairs (an
// α-spending, Lan & DeMets 1983, of e-values).
func Between(before, rows []float32, scores int, weights []float64, s int64, seed uint64) Step {
	t := NewTest(before, scores, weights, Hash(seed, uint64(s)))
	t.play(rows, 0)
	sum := nothing
	for _, w := range t.Wealth {
		sum = logAdd(sum, w.total())
	}
	number := float64(s)
	return Step{P: min(1, math.Exp(-sum)*number*(number+1)), Most: t.Most()}
}
