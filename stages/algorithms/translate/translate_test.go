package translate

import (
	"bytes"
	"testing"

	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/mte"
	"mars.dev/mars/stages/featurize/toy"
)

// On the paper's toy (mid, shift 8, 66/17/17) retraining after translation is as
// good as the target's Bayes rule, .994; the source's own classifier has .82.
func TestToy(t *testing.T) {
	seeds := 5
	if testing.Short() {
		seeds = 1
	}
	total := 0.0
	for seed := range seeds {
		p, truth := problem(t, uint64(seed))
		m := train(t, p, uint64(seed))
		total += balancedAccuracy(adapt.Argmax(m.Predict(p.Target)), truth) / float64(seeds)
	}
	if total < 0.985 {
		t.Errorf("mean balanced accuracy %.4f, want at least 0.985", total)
	}
	t.Logf("mean balanced accuracy %.4f", total)
}

// The problem is left as it was, and the same seed gives the same model.
func TestRepeatable(t *testing.T) {
	p, _ := problem(t, 1)
	before := p.Source.Data[17]
	var first, second bytes.Buffer
	for _, b := range []*bytes.Buffer{&first, &second} {
		if err := train(t, p, 1).Save(b); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two trainings differ")
	}
	if p.Source.Data[17] != before {
		t.Error("the source was changed")
	}
}

func problem(t *testing.T, seed uint64) (adapt.Problem, []int32) {
	t.Helper()
	source, target, err := toy.Generate(t.Context(), toy.Options{Shift: 8, TargetProportions: []float64{0.66, 0.17, 0.17}, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return adapt.Problem{Source: source.X, Labels: source.Labels, Target: target.X, Classes: []string{"a", "b", "c"}}, target.Labels
}

func train(t *testing.T, p adapt.Problem, seed uint64) *adapt.Model {
	t.Helper()
	e, err := mte.Fit(t.Context(), mte.Problem{Source: p.Source, Labels: p.Labels, Target: mte.InMemory(p.Target), Classes: len(p.Classes)}, mte.Options{Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Config("auto", []int{p.Source.Cols}, p.Source.Rows)
	if err != nil {
		t.Fatal(err)
	}
	c.Seed, c.Jobs = seed, 1
	if p.Source, err = Move(t.Context(), p, e.Responsibilities); err != nil {
		t.Fatal(err)
	}
	m, err := Train(t.Context(), p, c, e.Proportions)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func balancedAccuracy(got, truth []int32) float64 {
	var right, rows [3]float64
	for i, k := range truth {
		rows[k]++
		if got[i] == k {
			right[k]++
		}
	}
	return (right[0]/rows[0] + right[1]/rows[1] + right[2]/rows[2]) / 3
}
