package hedge

import (
	"math"
	"testing"

	"mars.dev/mars/stages/algorithms/gate"
)

// Whatever the gate says, no less is expected than follows without a fit.
func TestLeastExpected(t *testing.T) {
	expected := func(change func(m *Model)) Evidence {
		m := &Model{Classes: []string{"a", "b"}, Proportions: []float64{.5, .5}, prior: []float64{.5, .5}, disagree: [][]float64{{0, 0}, {0, 0}},
			Problem: gate.Problem{Separation: 1, Source: 1000, Target: 1000, Columns: 3, Classes: 2},
			Views:   []View{{Name: "balance", Weight: 1, Apart: .5, Proportions: []float64{.5, .5}}, {Name: "classes", Apart: .5, Proportions: []float64{.5, .5}}}}
		change(m)
		m.expect()
		return m.Evidence
	}
	plain := expected(func(*Model) {})
	if plain.ExpectedAccuracy < .9 {
		t.Errorf("an accuracy of %.3f is expected where nothing speaks against it", plain.ExpectedAccuracy)
	}
	for name, c := range map[string]struct {
		change func(m *Model)
		error  float64 // at least
		right  float64 // at most
	}{
		"nine of ten rows are new": {func(m *Model) { m.Problem.New = .9 }, 1.8, .1},
		"most rows lie elsewhere":  {func(m *Model) { m.Problem.Novelty = .6 }, 0, farAccuracy},
		"nothing is known":         {func(m *Model) { m.Evidence.Unknown = 1 }, 0.5, .5},
		"three rows":               {func(m *Model) { m.Evidence.Fewest = .2 }, .4, .8},
		"no row has a value":       {func(m *Model) { m.Evidence.Missing = .5 }, .5, .5},
		"thin classes":             {func(m *Model) { m.Evidence.Thin, m.Problem.Novelty = true, .6 }, thinError * (1 - farAccuracy), farAccuracy},
	} {
		e := expected(c.change)
		if e.ExpectedError < c.error-1e-9 || e.ExpectedAccuracy > c.right+1e-9 || e.ExpectedAccuracy > 1-e.ExpectedError/2+1e-9 {
			t.Errorf("%s: an error of %.3f and an accuracy of %.3f are expected: want at least %.3f and at most %.3f", name, e.ExpectedError, e.ExpectedAccuracy, c.error, c.right)
		}
	}
	// New rows are none of the assumption that the classes have moved.
	moved := expected(func(m *Model) {
		m.Problem.New, m.Views[0].Weight, m.Views[1].Weight = .9, 0, 1
	})
	if moved.ExpectedError >= 1.8 || math.IsNaN(moved.ExpectedError) {
		t.Errorf("an error of %.3f is expected of classes that have moved", moved.ExpectedError)
	}
}
