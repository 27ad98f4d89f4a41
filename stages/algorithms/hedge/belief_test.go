package hedge

import (
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
