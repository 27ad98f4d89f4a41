package main

import "testing"

// A line that was rewritten must be rewritten in the fixed list too: better said by the
// tests than by the last step of the checks.
func TestFixedListFits(t *testing.T) {
	if err := fits(fixedMutants, "../../.."); err != nil {
		t.Error(err)
	}
}

// Three commits after each other try the whole list.
func TestThirds(t *testing.T) {
	tried := 0
	for third := 1; third <= 3; third++ {
		tried += len(thirdOf(fixedMutants, third))
	}
	if all := len(thirdOf(fixedMutants, 0)); all != len(fixedMutants) || tried != all {
		t.Errorf("thirds have %d lines, and the list %d of %d", tried, all, len(fixedMutants))
	}
}
