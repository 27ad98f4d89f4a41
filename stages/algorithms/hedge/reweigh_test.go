package hedge

import (
	"bytes"
	"math"
	"testing"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// The views' posteriors are those of which the answer is the mean. A view that had no weight is
// kept where that is asked for, also in a file, and may get all.
func TestReweighed(t *testing.T) {
	p := newProblem(602, even, uneven, nowhere)
	stay := []string{"same", "balance"}
	plain, _ := fitted(t, p, Options{Assume: stay})
	last := make([]float64, len(plain.Views))
	last[len(last)-1] = 1
	if _, err := plain.Reweighed(last, plain.Proportions); err == nil {
		t.Error("a view that was not kept gets weight")
	}
	all, _ := fitted(t, p, Options{Assume: stay, KeepAll: true})
	var file bytes.Buffer
	if err := all.Save(&file); err != nil {
		t.Fatal(err)
	}
	loaded, err := Load(&file, "test")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []*Model{all, loaded} {
		z := m.Prepare(dense.Rows(p.Target, 0, 50))
		views, err := m.Posteriors(t.Context(), z)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := m.Predict(t.Context(), z)
		if err != nil {
			t.Fatal(err)
		}
		last := len(m.Views) - 1
		weights := make([]float64, last+1)
		weights[last] = 1
		moved, err := m.Reweighed(weights, m.Views[last].Proportions)
		if err != nil {
			t.Fatal(err)
		}
		alone, err := moved.Predict(t.Context(), z)
		if err != nil {
			t.Fatal(err)
		}
		for i := range answer.Data {
			mean := 0.0
			for v := range views {
				mean += m.Views[v].Weight * float64(views[v].Data[i])
			}
			if math.Abs(mean-float64(answer.Data[i])) > 1e-5 || math.Abs(float64(views[last].Data[i]-alone.Data[i])) > 1e-6 {
				t.Fatalf("value %d: the views' mean is %v, the answer %v; the last view %v, alone %v", i, mean, answer.Data[i], views[last].Data[i], alone.Data[i])
			}
		}
		if m.Views[last].Weight != 0 {
			t.Errorf("the last view has the weight %v", m.Views[last].Weight)
		}
		if _, err := moved.Typicality(t.Context(), z, alone); err != nil {
			t.Error(err)
		}
	}
}
