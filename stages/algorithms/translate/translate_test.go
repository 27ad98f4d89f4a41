package translate

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"mars.dev/mars/internal/contexttest"
	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/internal/dense"
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

// The end of the context, a network of no name and rows that cannot be moved are errors of who meets them.
func TestErrors(t *testing.T) {
	p, _ := problem(t, 1)
	c, err := Config("auto", []int{p.Source.Cols}, p.Source.Rows)
	if err != nil {
		t.Fatal(err)
	}
	responsibilities := dense.New(p.Target.Rows, 3)
	for i := range responsibilities.Data {
		responsibilities.Data[i] = 1. / 3
	}
	small := p
	small.Source, small.Labels = dense.Rows(p.Source, 0, 300), p.Labels[:300]
	small.Target, responsibilities = dense.Rows(p.Target, 0, 300), dense.Rows(responsibilities, 0, 300)
	contexttest.Stops(t, 2, func(ctx context.Context) error {
		_, err := Move(ctx, small, responsibilities)
		return err
	})
	ended, end := context.WithCancel(t.Context())
	end()
	_, trained := Train(ended, p, c, []float64{1, 0, 0})
	_, classifier := Classifier(1, 1)(ended, p.Source, p.Labels)
	for what, err := range map[string]error{"training": trained, "a classifier": classifier} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want %v", what, err, context.Canceled)
		}
	}
	if _, err := Config("toys", []int{2}, 10); err == nil || !strings.Contains(err.Error(), `arch "toys" is unknown`) {
		t.Errorf("a network of no name: %v", err)
	}
	if _, err := Classifier(1, 1)(t.Context(), dense.New(2, 0), []int32{0, 1}); err == nil {
		t.Error("rows without columns have a classifier")
	}
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
