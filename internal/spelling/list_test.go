package spelling

import (
	"slices"
	"testing"
)

func TestList(t *testing.T) {
	names := []string{"a", "b", "c", "d", "e", "f", "g"}
	for n, want := range []string{"", "a", "a, b", "a, b, c", "a, b, c, d", "a, b, c, d, e", "a, b, c, d, e, f", "a, b, c, d, e and 2 more"} {
		if got := List(names[:n]); got != want {
			t.Errorf("%d names: %q, want %q", n, got, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	if got := Numbers([]float64{.5, .3, .2}); got != "[0.500 0.300 0.200]" {
		t.Error(got)
	}
	many := slices.Repeat([]float64{.001}, 300)
	many[7], many[3] = .2, .3
	if got := Numbers(many); got != "[0.300 0.200 0.001 0.001 0.001] and 295 smaller" {
		t.Error(got)
	}
}
