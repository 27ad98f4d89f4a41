package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// A Task is the signs of a task, and the truth.
type Task struct {
	Name   string `json:"name"`
	Kind   string `json:"kind"`   // what has changed
	Family string `json:"family"` // what it is left out with
	Signs
	// Truth is the true p_T, C values, which sum to less than 1 if rows are of no class of the source.
	Truth []float64 `json:"truth"`
	// Wrong is the share of target rows, 0 to 1, whose label is wrong under each view (V).
	Wrong []float64 `json:"wrong"`
	// Mixed is the share of wrong labels, by the weighted mean of the views' posteriors, beside the weighted
	// mean of Wrong: by the weights of the gate that was the default when the task was studied.
	Mixed float64 `json:"mixed"`
	// Sampling are the variances of the shares over replicates of the target's rows (C).
	Sampling []float64 `json:"sampling"`
}

// New is the share of target rows that are of no class of the source.
func (t *Task) New() float64 {
	sum := 1.0
	for _, p := range t.Truth {
		sum -= p
	}
	return max(0, sum)
}

// Off is the L1 error of proportions.
func (t *Task) Off(p []float64) float64 { return distance(p, t.Truth) + t.New() }

// WrongLabels is the share of wrong labels to expect of an answer with these weights: fewer than
// the mean of its views', as Mixed has found.
func (t *Task) WrongLabels(weights []float64) float64 { return t.Mixed * dot(weights, t.Wrong) }

// Mean is the weighted mean of the views' proportions.
func (s *Signs) Mean(weights []float64) []float64 { return newAnswer(*s, weights).mean }

// Options of a fit. The zero value is usable.
type Options struct {
	// Ridge is what the square of a coefficient, or a constant, costs; 0 means 3e-4. Without it a view that is
	// seldom right would lose all weight, and learn no more.
	Ridge float64
	// Steps of Adam; 0 means 1,500.
	Steps int
}

const (
	wrongCosts    = 2    // what a share of wrong labels costs beside an L1 error
	simulated     = 0.3  // what a simulated family counts beside a real one
	rate          = 0.03 // of Adam's first steps
	answerRidge   = 1e-3 // of the regressions
	productCosts  = 100  // what the square of a product's coefficient costs beside a sign's
	newtonSteps   = 50
	maskedWeight  = 0.5 // of answers under what is true alone
	leastVariance = 1e-9
)

// Fit fits a gate, but for Made and Width, to tasks.
func Fit(tasks []Task, o Options) (*Gate, error) {
	o.Ridge, o.Steps = cmp.Or(o.Ridge, 3e-4), cmp.Or(o.Steps, 1500)
	for _, t := range tasks {
		if err := t.check(); err != nil {
			return nil, err
		}
	}
	if len(tasks) == 0 {
		return nil, fmt.Errorf("gate: there are no tasks: make some with fitgate study")
	}
	g := &Gate{Width: 1}
	weights := familyWeights(tasks)
	g.setScales(tasks, weights)
	newClimb(g, tasks, weights, o).run()
	for _, t := range tasks {
		// How far simulated targets lie was drawn, and says nothing of real ones.
		if !strings.HasPrefix(t.Family, Simulated) {
			g.Farthest = max(g.Farthest, t.Problem.Distance)
		}
	}
	return g, g.fitAnswers(tasks, weights)
}

func (t *Task) check() error {
	classes := len(t.Prior)
	fits := len(t.Truth) == classes && len(t.Wrong) == len(t.Views) && len(t.Disagree) == len(t.Views) && len(t.Sampling) == classes && len(t.Views) > 0
	for i, v := range t.Views {
		fits = fits && index(v.Name) >= 0 && len(v.Proportions) == classes && len(t.Disagree[i]) == len(t.Views)
	}
	if !fits {
		return fmt.Errorf("gate: task %s: its parts do not fit together: study it again", t.Name)
	}
	return nil
}

// Simulated is what the names of simulated families begin with.
const Simulated = "sim-"

// familyWeights let families count alike, but for simulated ones, and the tasks of a family.
func familyWeights(tasks []Task) []float64 {
	count := make(map[string]float64)
	for _, t := range tasks {
		count[t.Family]++
	}
	weights := make([]float64, len(tasks))
	for i, t := range tasks {
		if weights[i] = 1 / count[t.Family] / float64(len(count)); strings.HasPrefix(t.Family, Simulated) {
			weights[i] *= simulated
		}
	}
	return weights
}

func (g *Gate) setScales(tasks []Task, weights []float64) {
	var problems, views [][]float64
	var viewWeights []float64
	for i, t := range tasks {
		problems = append(problems, values(problemSigns, t.Problem))
		for _, v := range t.Views {
			views = append(views, values(viewSigns, seen{v, t.Prior}))
			viewWeights = append(viewWeights, weights[i])
		}
	}
	g.Problem, g.View = scalesOf(names(problemSigns), problems, weights), scalesOf(names(viewSigns), views, viewWeights)
}

func scalesOf(names []string, rows [][]float64, weights []float64) []Scale {
	scales, column := make([]Scale, len(names)), make([]float64, len(rows))
	for j, name := range names {
		for i, row := range rows {
			column[i] = row[j]
		}
		mean := stat.Mean(column, weights)
		variance := stat.MomentAbout(2, column, mean, weights)
		scales[j] = Scale{name, mean, math.Sqrt(max(variance, leastVariance))}
	}
	return scales
}

// climb finds the coefficients of the weights by Adam (Kingma & Ba 2015).
type climb struct {
	Options
	gate            *Gate
	tasks           []Task
	weights         []float64
	problems        [][]float64   // scaled signs, by task
	views           [][][]float64 // and by view
	kinds           [][]int       // of the views of a task
	parameters      []float64     // a constant and coefficients of each view, and the shared ones
	gradient        []float64
	first, second   []float64 // moments
	width, viewSize int
}

func newClimb(g *Gate, tasks []Task, weights []float64, o Options) *climb {
	c := &climb{Options: o, gate: g, tasks: tasks, weights: weights, width: countProducts(len(viewSigns)), viewSize: 1 + len(problemSigns)}
	for _, t := range tasks {
		c.problems = append(c.problems, append([]float64{1}, scaled(values(problemSigns, t.Problem), g.Problem)...))
		var views [][]float64
		var kinds []int
		for _, v := range t.Views {
			views = append(views, products(scaled(values(viewSigns, seen{v, t.Prior}), g.View)))
			kinds = append(kinds, index(v.Name))
		}
		c.views, c.kinds = append(c.views, views), append(c.kinds, kinds)
	}
	n := len(Views)*c.viewSize + c.width
	c.parameters, c.gradient, c.first, c.second = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	return c
}

func (c *climb) own(view int) []float64 { return c.parameters[view*c.viewSize:][:c.viewSize] }

func (c *climb) run() {
	const one, two, tiny = 0.9, 0.999, 1e-8
	for step := 1; step <= c.Steps; step++ {
		c.differentiate()
		r := rate * (1 - float64(step-1)/float64(c.Steps))
		for j, d := range c.gradient {
			c.first[j] = one*c.first[j] + (1-one)*d
			c.second[j] = two*c.second[j] + (1-two)*d*d
			m, s := c.first[j]/(1-math.Pow(one, float64(step))), c.second[j]/(1-math.Pow(two, float64(step)))
			c.parameters[j] -= r * m / (math.Sqrt(s) + tiny)
		}
	}
	c.gate.Views = nil
	for i, name := range Views {
		p := c.own(i)
		c.gate.Views = append(c.gate.Views, Linear{name, p[0], slices.Clone(p[1:])})
	}
	c.gate.Shared = slices.Clone(c.parameters[len(Views)*c.viewSize:])
}

// differentiate finds the gradient of what the tasks cost.
func (c *climb) differentiate() {
	shared := len(Views) * c.viewSize
	for j, p := range c.parameters {
		cost := c.Ridge
		if j >= shared+len(viewSigns) {
			cost *= productCosts
		}
		c.gradient[j] = 2 * cost * p
	}
	parts := index("parts")
	for i, t := range c.tasks {
		scores, toParts, of := make([]float64, len(t.Views)), 0.0, c.problems[i]
		for v, k := range c.kinds[i] {
			scores[v] = dot(c.own(k), of)
			if t.Views[v].Name == "classes" && undivided(t.Views) {
				other := dot(c.own(parts), of)
				toParts = logistic(other - scores[v])
				scores[v] = logSum(scores[v], other)
			}
			scores[v] += dot(c.parameters[shared:], c.views[i][v])
		}
		w := softmax(scores)
		costs, mean := t.costs(w)
		for v, k := range c.kinds[i] {
			d := c.weights[i] * w[v] * (costs[v] - mean)
			for j, z := range c.views[i][v] {
				c.gradient[shared+j] += d * z
			}
			if toParts > 0 && t.Views[v].Name == "classes" {
				for j, z := range of {
					c.gradient[parts*c.viewSize+j] += d * toParts * z
				}
				d *= 1 - toParts
			}
			for j, z := range of {
				c.gradient[k*c.viewSize+j] += d * z
			}
		}
	}
}

// costs are what more weight of each view would cost, and their weighted mean.
func (t *Task) costs(w []float64) (costs []float64, mean float64) {
	answer := t.Mean(w)
	costs = make([]float64, len(t.Views))
	for v, view := range t.Views {
		costs[v] = wrongCosts * t.Mixed * t.Wrong[v]
		for k, p := range view.Proportions {
			switch d := answer[k] - t.Truth[k]; {
			case d > 0:
				costs[v] += p
			case d < 0:
				costs[v] -= p
			}
		}
		mean += w[v] * costs[v]
	}
	return costs, mean
}

// fitAnswers fits what is expected of the answers: with all views, and, where rows have moved or
// only proportions have changed, with the views that say so alone, as users may who know it.
func (g *Gate) fitAnswers(tasks []Task, weights []float64) error {
	var signs [][]float64
	var errors, wrong, counts []float64
	add := func(t Task, assume []string, weight float64) {
		if w := g.Weights(t.Signs, assume); w != nil {
			signs = append(signs, values(answerSigns, newAnswer(t.Signs, w)))
			errors, wrong, counts = append(errors, t.Off(t.Mean(w))/2), append(wrong, t.WrongLabels(w)), append(counts, weight)
		}
	}
	for i, t := range tasks {
		add(t, nil, weights[i])
		switch t.Kind {
		case "moved", "together":
			add(t, []string{"together", "classes", "parts"}, maskedWeight*weights[i])
		case "label":
			add(t, []string{"balance"}, maskedWeight*weights[i])
		}
	}
	g.Answer = scalesOf(names(answerSigns), signs, counts)
	for i := range signs {
		signs[i] = products(scaled(signs[i], g.Answer))
	}
	var err error
	if g.Error, err = regress("error", signs, errors, counts); err != nil {
		return err
	}
	g.Wrong, err = regress("wrong", signs, wrong, counts)
	return err
}

// regress is the logistic regression, with a ridge, of shares from 0 to 1 by Newton's method. In
// the mean over the rows, what it says is what is true.
func regress(name string, rows [][]float64, shares, weights []float64) (Linear, error) {
	d := len(rows[0]) + 1
	at, total := mat.NewVecDense(d, nil), 0.0
	for _, w := range weights {
		total += w
	}
	x := make([]float64, d)
	for range newtonSteps {
		gradient, hessian := mat.NewVecDense(d, nil), mat.NewSymDense(d, nil)
		for j := 1; j < d; j++ {
			cost := answerRidge
			if j > len(answerSigns) {
				cost *= productCosts
			}
			gradient.SetVec(j, -cost*at.AtVec(j))
			hessian.SetSym(j, j, cost)
		}
		for i, row := range rows {
			x[0] = 1
			copy(x[1:], row)
			p, w := logistic(dot(x, at.RawVector().Data)), weights[i]/total
			v := mat.NewVecDense(d, x)
			gradient.AddScaledVec(gradient, w*(shares[i]-p), v)
			hessian.SymRankOne(hessian, w*max(p*(1-p), leastVariance), v)
		}
		var factor mat.Cholesky
		if !factor.Factorize(hessian) {
			return Linear{}, fmt.Errorf("gate: the regression of %s has no solution: are the tasks all alike?", name)
		}
		var step mat.VecDense
		if err := factor.SolveVecTo(&step, gradient); err != nil {
			return Linear{}, fmt.Errorf("gate: the regression of %s: %w", name, err)
		}
		at.AddVec(at, &step)
		if mat.Norm(&step, 2) < 1e-10 {
			break
		}
	}
	all := at.RawVector().Data
	return Linear{name, all[0], slices.Clone(all[1:])}, nil
}
