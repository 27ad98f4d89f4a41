package diagnostics

import (
	"strings"
	"testing"

	"mars.dev/mars/stages/algorithms/hedge"
)

// What holds rows still, or moves them, is said where it does.
func TestHeld(t *testing.T) {
	apart, overlapping := hedge.Still{Separation: 1}, hedge.Still{Separation: 0.2}
	for name, c := range map[string]struct {
		still hedge.Still
		stays hedge.Stays
		want  string // in the words; "" for none
	}{
		"stayed":                            {overlapping, hedge.Stays{Trust: 1}, ""},
		"stayed, and chosen":                {overlapping, hedge.Stays{Trust: 1, Linear: 3}, "chosen by their columns, so it counts more that nothing has changed"},
		"stayed, chosen, and classes apart": {apart, hedge.Stays{Trust: 1, Linear: 3}, ""},
		"moved":                             {apart, hedge.Stays{}, ""},
		"overlapping":                       {overlapping, hedge.Stays{Linear: 3}, "classes overlap"},
		"moved together":                    {apart, hedge.Stays{Rival: 2.5}, "moved alike explain the target better than new proportions (by 2.5"},
		"inside":                            {apart, hedge.Stays{Inside: 0.9}, "lie where the source has rows"},
		"few values":                        {hedge.Still{Separation: 1, FewValued: 0.8}, hedge.Stays{}, "80 % of the columns have few values"},
	} {
		h := &Hedge{Still: c.still, Stays: c.stays}
		if got := h.Held(); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
