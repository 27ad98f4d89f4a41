package gate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// What is expected of answers is true of them in the mean over tasks and the assumptions that a user may know, of
// which those count half. Families count alike, however many tasks they have.
func TestExpectedInTheMean(t *testing.T) {
	for kind, assume := range map[string][]string{"chosen": nil, "label": {"balance"}, "moved": {"together", "classes", "parts"}, "together": {"together", "classes", "parts"}} {
		rng := rand.New(rand.NewPCG(3, 5))
		var tasks []Task
		for i := range 12 {
			task := taskOf(rng, i/9, random(rng, 3, true), i%5) // nine of a family, and three of another
			task.Wrong[2], task.Kind = rng.Float64(), []string{"chosen", kind}[i%2]
			tasks = append(tasks, task)
		}
		g, err := Fit(tasks, Options{Steps: 5})
		if err != nil {
			t.Fatal(err)
		}
		l1, wrong := 0.0, 0.0
		add := func(task Task, assume []string, weight float64) {
			w := g.Weights(task.Signs, assume)
			a, b := g.Expect(task.Signs, w)
			l1, wrong = l1+weight*(a-task.Off(task.Mean(w))), wrong+weight*(b-task.WrongLabels(w))
		}
		for i, task := range tasks {
			weight := []float64{1. / 18, 1. / 6}[i/9]
			add(task, nil, weight)
			if assume != nil && task.Kind == kind {
				add(task, assume, weight/2)
			}
		}
		if math.Abs(l1) > 1e-9 || math.Abs(wrong) > 1e-9 {
			t.Errorf("%s: more is expected than is true, by %g of the L1 error and %g of wrong labels", kind, l1, wrong)
		}
	}
}

// A truth that is no number is refused, and not fitted to.
func TestTruthIsANumber(t *testing.T) {
	tasks := fieldOf(rand.New(rand.NewPCG(7, 8)), 6, 0)
	g, err := Fit(tasks, Options{Steps: 5})
	if err != nil {
		t.Fatal(err)
	}
	weights := familyWeights(tasks)
	for name, spoil := range map[string]func(t *Task){"shares": func(t *Task) { t.Truth[0] = math.NaN() }, "labels": func(t *Task) { t.Wrong[0] = math.NaN() }} {
		bad := slices.Clone(tasks)
		bad[0].Truth, bad[0].Wrong = slices.Clone(bad[0].Truth), slices.Clone(bad[0].Wrong)
		spoil(&bad[0])
		if _, err := Fit(bad, Options{Steps: 5}); err == nil {
			t.Errorf("%s: a gate is fitted", name)
		}
		again := *g
		if err := again.fitAnswers(bad, weights); err == nil {
			t.Errorf("%s: what is expected is fitted", name)
		}
		for _, n := range []int{1, 2} {
			if _, _, err := g.In(bad[:n], asIs); err == nil {
				t.Errorf("%s: %d batches of a field are taken", name, n)
			}
		}
	}
}

// Nobody knows whether an assumption moves rows that is none of this program's: it may.
func TestUnknownAssumption(t *testing.T) {
	if a := Of("rotation"); a != (Assumption{"rotation", "rotation", true}) {
		t.Errorf("got %+v", a)
	}
	if a := Of("balance"); a.Moves || a.Name != "balance" {
		t.Errorf("got %+v", a)
	}
}
