package gate

import (
	"math"
	"math/rand/v2"
	"testing"
)

func asIs(_ int, _ []float64, l1, wrong float64) (float64, float64) { return l1, wrong }

// fieldOf draws batches in which one view is right, whatever the signs say.
func fieldOf(rng *rand.Rand, n, right int) (tasks []Task) {
	for range n {
		tasks = append(tasks, taskOf(rng, 0, random(rng, 3, true), right))
	}
	return tasks
}

// Where one assumption has been right of all batches, it gets more weight, and the more of it the more batches there are.
func TestFieldWeighs(t *testing.T) {
	g := Default()
	for right := range Views {
		rng := rand.New(rand.NewPCG(1, uint64(right)))
		goal := random(rng, 3, true)
		before := g.Weights(goal, nil)[right]
		last := before
		for _, n := range []int{8, 32} {
			own, _, err := g.In(fieldOf(rand.New(rand.NewPCG(2, uint64(right))), n, right), asIs)
			if err != nil {
				t.Fatal(err)
			}
			w := own.Weights(goal, nil)[right]
			if !(w > last) {
				t.Errorf("%s was right of %d batches: weight %.3f, with fewer %.3f", Views[right], n, w, last)
			}
			last = w
		}
		if g.Weights(goal, nil)[right] != before {
			t.Errorf("the general gate has changed")
		}
	}
}

// What is expected of a field's batches comes near to what is true of them.
func TestFieldExpects(t *testing.T) {
	g, tasks := Default(), fieldOf(rand.New(rand.NewPCG(3, 4)), 24, 0)
	off := func(g *Gate) float64 {
		said, is := 0.0, 0.0
		for _, task := range tasks {
			w := g.Weights(task.Signs, nil)
			_, wrong := g.Correct(g.Expect(task.Signs, w))
			said, is = said+wrong, is+task.WrongLabels(w)
		}
		return math.Abs(math.Log(said / is))
	}
	own, hindsight, err := g.In(tasks, asIs)
	if err != nil || len(hindsight) != len(tasks) {
		t.Fatal(len(hindsight), err)
	}
	if before, after := off(g), off(own); !(after < before/3) {
		t.Errorf("what is expected is off by a factor of e^%.2f with the batches, and of e^%.2f without", after, before)
	}
}

// No batch has a say in what was said of it: its hindsight stays if its own labels become others.
func TestHindsightIsHeldOut(t *testing.T) {
	tasks := fieldOf(rand.New(rand.NewPCG(5, 6)), 5, 2)
	_, before, err := Default().In(tasks, asIs)
	if err != nil {
		t.Fatal(err)
	}
	tasks[1].Truth, tasks[1].Wrong = []float64{1, 0, 0}, []float64{.9, .1, .9, .9, .9}
	_, after, err := Default().In(tasks, asIs)
	if err != nil {
		t.Fatal(err)
	}
	if b, a := before[1], after[1]; b.ExpectedL1 != a.ExpectedL1 || b.ExpectedWrong != a.ExpectedWrong {
		t.Errorf("what was said of a batch depends on its labels: %+v, %+v", b, a)
	}
	if after[1].Best != 1 || before[0].ExpectedL1 == after[0].ExpectedL1 {
		t.Errorf("the best view of the batch is %d: want 1; of another was said %v before, and is now %v", after[1].Best, before[0].ExpectedL1, after[0].ExpectedL1)
	}
}

// Without batches the gate stays, and what does not fit together is refused.
func TestFieldOfNothing(t *testing.T) {
	g := Default()
	own, _, err := g.In(nil, asIs)
	if err != nil {
		t.Fatal(err)
	}
	goal := random(rand.New(rand.NewPCG(1, 0)), 3, true)
	w := g.Weights(goal, nil)
	l1, wrong := g.Expect(goal, w)
	if a, b := own.Correct(own.Expect(goal, own.Weights(goal, nil))); a != l1 || b != wrong {
		t.Errorf("a field without batches changes what is expected: %v and %v, before %v and %v", a, b, l1, wrong)
	}
	tasks := fieldOf(rand.New(rand.NewPCG(7, 8)), 2, 0)
	tasks[1].Wrong = nil
	if _, _, err := g.In(tasks, asIs); err == nil {
		t.Error("a batch without the truth is taken")
	}
}

// Batches that were easier than expected make less expected of what is like them, and say nothing of what is worse.
func TestCorrection(t *testing.T) {
	c := newCorrection([]float64{.1, .2, .3}, []float64{.02, .04, .06})
	last := 0.0
	for _, said := range []float64{.05, .1, .3, .31, .5, .9} {
		got := c.of(said)
		if !(got > last) {
			t.Errorf("%v is made of %v, and %v of less", got, said, last)
		}
		if last = got; said <= .3 && got > said/2 {
			t.Errorf("%v is made of %v, which was five times too much of all batches", got, said)
		}
		if most := c.of(.3); said > .3 && math.Abs(got-most-(said-.3)) > 1e-9 {
			t.Errorf("%v is made of %v: what goes beyond .3 is not added", got, said)
		}
	}
	if worse := newCorrection([]float64{.1, .1}, []float64{.3, .3}); worse.of(.5) < .6 {
		t.Errorf("batches that were three times worse than expected make %v of .5", worse.of(.5))
	}
}
