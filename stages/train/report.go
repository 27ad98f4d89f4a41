package train

import (
	"math"

	"mars.dev/mars/arrowio"
)

// write writes a row a candidate: its settings, its scores, how long it took, whether it was
// chosen and why it failed.
func (c Choice) write(outcomes []outcome, best int) error {
	var t arrowio.Table
	for j, s := range c.Candidates[0].Settings {
		values := make([]string, len(outcomes))
		for i := range outcomes {
			values[i] = c.Candidates[i].Settings[j].Value
		}
		t.Add(s.Flag, arrowio.NewStringArray(values))
	}
	for _, name := range c.Scores {
		values := make([]*float64, len(outcomes))
		for i, o := range outcomes {
			if v, ok := o.scores[name]; ok {
				values[i] = &v
			}
		}
		t.AddNullable(name, arrowio.NewDoublesOrNull(values))
	}
	seconds, chosen, failed := make([]float64, len(outcomes)), make([]bool, len(outcomes)), make([]string, len(outcomes))
	for i, o := range outcomes {
		seconds[i], chosen[i] = math.Round(o.seconds*1000)/1000, i == best
		if o.failed != nil {
			failed[i] = o.failed.Error()
		}
	}
	t.Add("seconds", arrowio.NewDoubleArray(seconds))
	t.Add("chosen", arrowio.NewBoolArray(chosen))
	t.AddNullable("failed", arrowio.NewStringsOrNull(failed))
	return arrowio.Save(c.Report, t.Record(arrowio.Meta{}))
}
