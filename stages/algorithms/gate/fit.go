package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"
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

// WrongLabels is about the share of wrong labels of an answer with these weights. A label is that of the
// greatest of the mean posteriors, so views of large weights count more than in the mean: with squares of the
// weights it is right on average (docs/decisions.md).
func (t *Task) WrongLabels(weights []float64) float64 {
	sum, all := 0.0, 0.0
	for v, w := range weights {
		sum += w * w * t.Wrong[v]
		all += w * w
	}
	return sum / all
}

// Mean is the weighted mean of the views' proportions.
func (s *Signs) Mean(weights []float64) []float64 { return newAnswer(*s, weights).mean }

// Options of a fit. The zero value is usable.
type Options struct {
	// Ridge is what the square of a coefficient, or a constant, costs; 0 means 3e-4. Without it a view that is
	// seldom right would lose all weight, and learn no more.
	Ridge float64
	// Steps of L-BFGS; 0 means 1,500.
	Steps int
}

const (
	wrongCosts    = 2    // what a share of wrong labels costs beside an L1 error
	simulated     = 0.3  // what a simulated family counts beside a real one
	smooth        = 0.01 // of an L1 error: what is smaller counts by its square
	leastGradient = 1e-6
	answerRidge   = 1e-3 // of the regressions
	productCosts  = 10   // what the square of a product's coefficient costs beside a sign's
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
	if err := newClimb(g, tasks, weights, o).run(g); err != nil {
		return nil, err
	}
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

// climb finds the coefficients of the weights by L-BFGS.
type climb struct {
	Options
	tasks    []Task
	weights  []float64
	problems [][]float64   // scaled signs, by task
	views    [][][]float64 // and by view, with products
	kinds    [][]int       // of the views of a task
	viewSize int
}

func newClimb(g *Gate, tasks []Task, weights []float64, o Options) *climb {
	c := &climb{Options: o, tasks: tasks, weights: weights, viewSize: 1 + len(problemSigns)}
	for _, t := range tasks {
		c.problems = append(c.problems, append([]float64{1}, scaled(values(problemSigns, t.Problem), g.Problem)...))
		var views [][]float64
		var kinds []int
		for _, v := range t.Views {
			views = append(views, products(viewSigns, scaled(values(viewSigns, seen{v, t.Prior}), g.View)))
			kinds = append(kinds, index(v.Name))
		}
		c.views, c.kinds = append(c.views, views), append(c.kinds, kinds)
	}
	return c
}

// own are the parameters of a view: a constant and a coefficient of each sign of the problem. Behind those of all
// views are the shared ones.
func (c *climb) own(parameters []float64, view int) []float64 {
	return parameters[view*c.viewSize:][:c.viewSize]
}

// run sets the coefficients of g.
func (c *climb) run(g *Gate) error {
	problem := optimize.Problem{
		Func: func(at []float64) float64 { return c.cost(at, nil) },
		Grad: func(gradient, at []float64) { c.cost(at, gradient) },
	}
	shared := len(Views) * c.viewSize
	found, err := optimize.Minimize(problem, make([]float64, shared+countProducts(viewSigns)),
		&optimize.Settings{GradientThreshold: leastGradient, MajorIterations: c.Steps}, &optimize.LBFGS{})
	if err != nil {
		return fmt.Errorf("gate: the fit of the weights: %w", err)
	}
	for i, name := range Views {
		p := c.own(found.X, i)
		g.Views = append(g.Views, Linear{name, p[0], slices.Clone(p[1:])})
	}
	g.Shared = slices.Clone(found.X[shared:])
	return nil
}

// cost is what the answers to the tasks cost, and the coefficients. It sets the gradient if it is not nil.
func (c *climb) cost(at, gradient []float64) (sum float64) {
	shared := len(Views) * c.viewSize
	for j, p := range at {
		ridge := c.Ridge
		if j >= shared+len(viewSigns) {
			ridge *= productCosts
		}
		sum += ridge * p * p
		if gradient != nil {
			gradient[j] = 2 * ridge * p
		}
	}
	parts := index("parts")
	for i, t := range c.tasks {
		scores, toParts, of := make([]float64, len(t.Views)), 0.0, c.problems[i]
		for v, k := range c.kinds[i] {
			scores[v] = dot(c.own(at, k), of)
			if t.Views[v].Name == "classes" && undivided(t.Views) {
				other := dot(c.own(at, parts), of)
				toParts = logistic(other - scores[v])
				scores[v] = logSum(scores[v], other)
			}
			scores[v] += dot(at[shared:], c.views[i][v])
		}
		w := softmax(scores)
		cost, more, mean := t.costs(w)
		sum += c.weights[i] * cost
		if gradient == nil {
			continue
		}
		for v, k := range c.kinds[i] {
			d := c.weights[i] * w[v] * (more[v] - mean)
			for j, z := range c.views[i][v] {
				gradient[shared+j] += d * z
			}
			if toParts > 0 && t.Views[v].Name == "classes" {
				own := c.own(gradient, parts)
				for j, z := range of {
					own[j] += d * toParts * z
				}
				d *= 1 - toParts
			}
			own := c.own(gradient, k)
			for j, z := range of {
				own[j] += d * z
			}
		}
	}
	return sum
}

// costs are what an answer costs, what more weight of each view would, and the weighted mean of these.
func (t *Task) costs(w []float64) (cost float64, more []float64, mean float64) {
	more = make([]float64, len(t.Views))
	for k, p := range t.Mean(w) {
		d := p - t.Truth[k]
		size := math.Hypot(d, smooth)
		cost += size
		for v, view := range t.Views {
			more[v] += d / size * view.Proportions[k]
		}
	}
	for v, wrong := range t.Wrong {
		more[v] += wrongCosts * wrong
		cost += wrongCosts * w[v] * wrong
		mean += w[v] * more[v]
	}
	return cost, more, mean
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
		signs[i] = products(answerSigns, scaled(signs[i], g.Answer))
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
