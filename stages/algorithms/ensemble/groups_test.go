package ensemble

import (
	"context"
	"math/rand/v2"
	"testing"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// TestGroupsAreHeldOutWhole has a class that one group alone has, which is divided all the same.
func TestGroupsAreHeldOutWhole(t *testing.T) {
	groups, labels := []int32{}, []int32{}
	for g := range int32(7) {
		for i := range int32(20 + 5*g) {
			groups = append(groups, g)
			k := i % 2
			if g == 3 && i%3 == 0 {
				k = 2
			}
			labels = append(labels, k)
		}
	}
	tuned := &Tuned{Classes: 3, distinct: len(labels), groups: groups, seed: 1}
	fold := tuned.divide(append(labels, labels...))
	of, rows, alone := map[int32]int{}, [folds]int{}, map[int]bool{}
	for i, g := range groups {
		rows[fold[i]]++
		if fold[i+len(labels)] != fold[i] {
			t.Fatalf("row %d is in fold %d, and its copy in %d", i, fold[i], fold[i+len(labels)])
		}
		if labels[i] == 2 {
			alone[fold[i]] = true
			continue
		}
		if f, ok := of[g]; ok && f != fold[i] {
			t.Fatalf("group %d is in the folds %d and %d", g, f, fold[i])
		}
		of[g] = fold[i]
	}
	if len(alone) != folds {
		t.Errorf("the class of one group is in the folds %v alone", alone)
	}
	for f, n := range rows {
		if n < len(labels)/5 {
			t.Errorf("fold %d has %d of %d rows", f, n, len(labels))
		}
	}
}

// TestGroupsMakeAccuracyHonest has rows that are near to those of their group, whose label is its own.
func TestGroupsMakeAccuracyHonest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	x, labels, groups := dense.New(600, 4), make([]int32, 600), make([]int32, 600)
	centres := dense.New(30, 4)
	for i := range centres.Data {
		centres.Data[i] = float32(rng.NormFloat64())
	}
	for i := range labels {
		g := i % 30
		groups[i], labels[i] = int32(g), int32(g%2)
		for j := range 4 {
			x.Data[4*i+j] = centres.Data[4*g+j] + 0.1*float32(rng.NormFloat64())
		}
	}
	accuracy := func(o Options) float64 {
		tuned, err := Tune(context.Background(), x, labels, 2, o)
		if err != nil {
			t.Fatal(err)
		}
		return tuned.Accuracy
	}
	if apart, whole := accuracy(Options{}), accuracy(Options{Groups: groups}); apart < 0.7 || whole > 0.6 {
		t.Errorf("rows held out have the accuracy %.2f, and groups held out %.2f: want much less of groups, which say nothing of others", apart, whole)
	}
}
