package main

import "testing"

// A line that was rewritten must be rewritten in the fixed list too: better said by the
// tests than by the last step of the checks.
func TestFixedListFits(t *testing.T) {
	if err := fits(fixedMutants, "../../.."); err != nil {
		t.Error(err)
	}
}
