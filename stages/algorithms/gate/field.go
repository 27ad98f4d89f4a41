package gate

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"
)

// Labelled batches of one field (patients of a hospital, months of a sensor) say how its classes change from batch to
// batch: each is left out and answered from the others, and its labels tell what was right. A handful of batches
// cannot say what each sign means. But they can say which assumptions are right more often here than elsewhere, and
// whether answers are farther off: a constant for each, and no more.

const (
	// fieldRidge is what the square of an assumption's constant costs beside what the answers to the batches cost, and
	// fieldPrior how many batches the general expectation counts as. Both were chosen with families left out:
	// docs/measured/batches.md.
	fieldRidge = 0.1
	fieldPrior = 0.7
	leastSaid  = 0.02 // what half an L1 error, or a share of wrong labels, is said to be at least, so that ratios stay finite
	mostSaid   = 0.98
	fieldSteps = 200
)

// A Hindsight is what was said of a batch that was left out, by the gate of the field's other batches, and what is true.
type Hindsight struct {
	L1, Wrong                 float64 // of the answer
	ExpectedL1, ExpectedWrong float64
	// Best is the index of the view that would have cost least.
	Best int
}

// In returns the gate for a field of which batches are known, and what it would have said of each without having seen it.
// said makes of what Expect gives for a batch, under weights of its views, what a user would have been told.
func (g *Gate) In(field []Task, said func(batch int, weights []float64, l1, wrong float64) (float64, float64)) (*Gate, []Hindsight, error) {
	for i := range field {
		if err := field[i].check(); err != nil {
			return nil, nil, err
		}
	}
	all := make([]Hindsight, len(field))
	for i, t := range field {
		others := slices.Delete(slices.Clone(field), i, i+1)
		own, err := g.shifted(others)
		if err != nil {
			return nil, nil, err
		}
		w := own.Weights(t.Signs, nil)
		h := Hindsight{L1: t.Off(t.Mean(w)), Wrong: t.WrongLabels(w), Best: t.best()}
		h.ExpectedL1, h.ExpectedWrong = own.Expect(t.Signs, w)
		h.ExpectedL1, h.ExpectedWrong = said(i, w, h.ExpectedL1, h.ExpectedWrong)
		all[i] = h
	}
	own, err := g.shifted(field)
	if err != nil {
		return nil, nil, err
	}
	var l1, wrong [2][]float64 // said, and true
	for _, h := range all {
		l1[0], l1[1] = append(l1[0], h.ExpectedL1/2), append(l1[1], h.L1/2)
		wrong[0], wrong[1] = append(wrong[0], h.ExpectedWrong), append(wrong[1], h.Wrong)
	}
	own.errors, own.wrongs = newCorrection(l1[0], l1[1]), newCorrection(wrong[0], wrong[1])
	return own, all, nil
}

// Correct is what a user is told in this field where so much is expected: an L1 error, and a share of wrong labels. It is the
// same where no field is known.
func (g *Gate) Correct(l1, wrong float64) (float64, float64) {
	return 2 * g.errors.of(l1/2), g.wrongs.of(wrong)
}

// best is the view that costs least.
func (t *Task) best() int {
	costs := make([]float64, len(t.Views))
	for v := range t.Views {
		alone := make([]float64, len(t.Views))
		alone[v] = 1
		costs[v], _, _ = t.costs(alone)
	}
	return slices.Index(costs, slices.Min(costs))
}

// A correction is what is added to the logit of what is expected. Where more is expected than of any batch, the batches say
// nothing of how much too much that is: what goes beyond the most is added as it is.
type correction struct{ add, most float64 }

// newCorrection makes the mean of what is said that of what is true, as far as there are enough batches to tell.
func newCorrection(said, is []float64) correction {
	if len(said) == 0 {
		return correction{}
	}
	n, saidSum, isSum := float64(len(said)), 0.0, 0.0
	for i := range said {
		saidSum, isSum = saidSum+said[i], isSum+is[i]
	}
	mean := max(saidSum/n, leastSaid)
	ratio := (isSum + fieldPrior*mean) / (saidSum + fieldPrior*mean)
	return correction{logit(min(ratio*mean, mostSaid)) - logit(min(mean, mostSaid)), min(slices.Max(said), mostSaid)}
}

// of is what is told where so much is expected, from 0 to 1.
func (c correction) of(said float64) float64 {
	if c.add == 0 || said <= 0 || said >= 1 {
		return said
	}
	if c.add < 0 && said > c.most {
		return c.of(c.most) + said - c.most
	}
	return logistic(logit(said) + c.add)
}

func logit(p float64) float64 { return math.Log(p / (1 - p)) }

// shifted is a gate whose views have the constants that suit the tasks best.
func (g *Gate) shifted(tasks []Task) (*Gate, error) {
	own := *g
	own.Views = slices.Clone(g.Views)
	if len(tasks) == 0 {
		return &own, nil
	}
	scores := make([][]float64, len(tasks))
	for i, t := range tasks {
		scores[i] = g.scores(t.Signs)
	}
	cost := func(at, gradient []float64) (sum float64) {
		for j, c := range at {
			sum += fieldRidge * c * c
			if gradient != nil {
				gradient[j] = 2 * fieldRidge * c
			}
		}
		for i, t := range tasks {
			moved := slices.Clone(scores[i])
			for v := range moved {
				moved[v] += at[index(t.Views[v].Name)]
			}
			w := softmax(moved)
			cost, more, mean := t.costs(w)
			sum += cost
			for v := range w {
				if gradient != nil {
					gradient[index(t.Views[v].Name)] += w[v] * (more[v] - mean)
				}
			}
		}
		return sum
	}
	problem := optimize.Problem{
		Func: func(at []float64) float64 { return cost(at, nil) },
		Grad: func(gradient, at []float64) { cost(at, gradient) },
	}
	found, err := optimize.Minimize(problem, make([]float64, len(Views)),
		&optimize.Settings{GradientThreshold: leastGradient, MajorIterations: fieldSteps}, &optimize.LBFGS{})
	if err != nil {
		return nil, fmt.Errorf("gate: the constants of a field: %w", err)
	}
	for i := range own.Views {
		own.Views[i].Constant += found.X[i]
	}
	return &own, nil
}
