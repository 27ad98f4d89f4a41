package diagnostics

import (
	"encoding/json"
	"strings"
	"testing"

	"mars.dev/mars/stages/algorithms/selftrain"
)

// Few first labels and proportions that move are doubtful; the JSON has all figures.
func TestSelfTraining(t *testing.T) {
	good := selftrain.Report{FirstKept: 0.9, Kept: 0.97, Agreement: 0.95, Doubt: 0.01, Before: []float64{0.5, 0.5}, After: []float64{0.46, 0.54}}
	few, moved := good, good
	few.FirstKept, moved.After = 0.3, []float64{0.3, 0.7}
	for _, c := range []struct {
		report selftrain.Report
		want   string
	}{{good, ""}, {few, "only 30 % of the target's rows"}, {moved, "have moved by 0.40 in L1"}} {
		s := NewSelfTraining(&c.report)
		if got := strings.Join(s.Warnings(), "; "); !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("warnings %q, want %q", got, c.want)
		}
	}
	d := &Diagnostics{Estimator: selftrain.Method, SelfTraining: NewSelfTraining(&moved)}
	if all := d.AllWarnings(); len(all) != 1 {
		t.Errorf("warnings %q", all)
	}
	var back Diagnostics
	if err := json.Unmarshal(d.JSON(), &back); err != nil || back.SelfTraining == nil || back.SelfTraining.Moved != d.SelfTraining.Moved || back.SelfTraining.Kept != 0.97 {
		t.Errorf("read back %+v, error %v", back.SelfTraining, err)
	}
	if line := d.SelfTraining.Line(); !strings.Contains(line, "90.0 % of the rows labelled at first, 97.0 % at the end") {
		t.Errorf("line %q", line)
	}
}
