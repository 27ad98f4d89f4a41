package stream

import (
	"encoding/json"
	"fmt"

	"mars.dev/mars/arrowio"
)

// Totals are what all rows of the domains are of which the stream has a sample: the rows of the
// target, and by class those of the source. They are 0 and nil where the stream has all.
func (r *Rows) Totals(classes []string) (target int, source []int, err error) {
	text, there := r.Schema().Metadata().GetValue(arrowio.TotalsKey)
	if !there {
		return 0, nil, nil
	}
	var of map[string]struct {
		Rows    int            `json:"rows"`
		Classes map[string]int `json:"classes"`
	}
	if err := json.Unmarshal([]byte(text), &of); err != nil {
		return 0, nil, r.Fail("", fmt.Errorf("schema metadata %s: %w", arrowio.TotalsKey, err), "drop or repair the key")
	}
	known, sum := of[arrowio.SourceDomain.String()].Classes, 0
	for _, name := range classes {
		if known[name] < 0 {
			return 0, nil, r.Fail("", fmt.Errorf("schema metadata %s: class %q has %d rows", arrowio.TotalsKey, name, known[name]), "drop or repair the key")
		}
		source = append(source, known[name])
		sum += known[name]
	}
	if sum == 0 {
		source = nil
	}
	return max(0, of[arrowio.TargetDomain.String()].Rows), source, nil
}
