package hedge

import (
	"math"
	"testing"

	"mars.dev/mars/stages/algorithms/gate"
)

// Each assumption has a belief, and moves rows if it says so.
func TestBeliefs(t *testing.T) {
	if len(beliefs) != len(gate.Assumptions) {
		t.Errorf("there are %d beliefs for %d assumptions", len(beliefs), len(gate.Assumptions))
	}
	for _, a := range gate.Assumptions {
		if b, ok := beliefs[a.Name]; !ok || (b.move != nil) != a.Moves {
			t.Errorf("%s: what follows from it is not what it says (%v)", a.Name, ok)
		}
	}
}

// Rows that only views that move classes label otherwise count, by the weight of these.
func TestCrossed(t *testing.T) {
	m := &Model{Views: []View{{Name: "same", Weight: .3}, {Name: "balance", Weight: .1}, {Name: "classes", Weight: .6}}}
	m.disagree = [][]float64{{0, .9, .5}, {.9, 0, .2}, {.5, .2, 0}}
	if got := m.crossed(); math.Abs(got-.3) > 1e-12 {
		t.Errorf("crossed %v, want .6·.5", got)
	}
	m.Views, m.disagree = m.Views[1:], [][]float64{{0, .2}, {.2, 0}}
	if got := m.crossed(); got != 0 {
		t.Errorf("crossed %v where no view stays", got)
	}
}
