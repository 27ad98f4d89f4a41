package main

import "testing"

// A line that was rewritten must be rewritten in the fixed list too: better said by the
// tests than by the last step of the checks.
func TestFixedListFits(t *testing.T) {
	if err := fits(fixedMutants, "../../.."); err != nil {
		t.Error(err)
	}
}

// Six commits after each other try the whole list.
func TestSixths(t *testing.T) {
	tried := 0
	for sixth := 1; sixth <= 6; sixth++ {
		tried += len(sixthOf(fixedMutants, sixth))
	}
	if all := len(sixthOf(fixedMutants, 0)); all != len(fixedMutants) || tried != all {
		t.Errorf("sixths have %d lines, and the list %d of %d", tried, all, len(fixedMutants))
	}
}
