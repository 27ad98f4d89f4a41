package gate

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// random draws the signs of a task of so many classes, with or without a view of the parts.
func random(rng *rand.Rand, classes int, parts bool) Signs {
	s := Signs{Prior: shares(rng, classes), Problem: Problem{Separation: rng.Float64(), Misfit: 50 * rng.Float64(), Change: 20 * rng.NormFloat64(), Novelty: rng.Float64(),
		New: 0.2 * rng.Float64(), Rival: rng.NormFloat64(), Source: 100 + rng.IntN(1000), Target: 100 + rng.IntN(1000), Columns: 2 + rng.IntN(30), Classes: classes}}
	names := Views
	if !parts {
		names = Views[:len(Views)-1]
	}
	for range names {
		s.Disagree = append(s.Disagree, make([]float64, len(names)))
	}
	for i, name := range names {
		s.Views = append(s.Views, View{Name: name, Apart: 0.5 + rng.Float64()/2, Blurred: 0.5 + rng.Float64()/2, Beyond: 30 * rng.Float64(), Doubt: rng.Float64() / 2, Members: rng.Float64() / 5, Trees: rng.Float64() / 2, Proportions: shares(rng, classes)})
		for j := range i {
			s.Disagree[i][j] = rng.Float64()
			s.Disagree[j][i] = s.Disagree[i][j]
		}
	}
	return s
}

func shares(rng *rand.Rand, classes int) []float64 {
	p, sum := make([]float64, classes), 0.0
	for k := range p {
		p[k] = rng.ExpFloat64()
		sum += p[k]
	}
	for k := range p {
		p[k] /= sum
	}
	return p
}

// randomGate has coefficients of all signs.
func randomGate(rng *rand.Rand) *Gate {
	linear := func(name string, n int) Linear {
		l := Linear{name, rng.NormFloat64(), make([]float64, n)}
		for j := range l.Signs {
			l.Signs[j] = rng.NormFloat64() / 4
		}
		return l
	}
	scales := func(names []string) (all []Scale) {
		for _, name := range names {
			all = append(all, Scale{name, rng.NormFloat64() / 2, 1 + rng.Float64()})
		}
		return all
	}
	g := &Gate{Problem: scales(names(problemSigns)), View: scales(names(viewSigns)), Answer: scales(names(answerSigns)), Width: 1,
		Shared: linear("", countProducts(viewSigns)).Signs, Error: linear("error", countProducts(answerSigns)), Wrong: linear("wrong", countProducts(answerSigns))}
	for _, name := range Views {
		g.Views = append(g.Views, linear(name, len(problemSigns)))
	}
	return g
}

// The gate of the program can be read, and says what it was fitted to.
func TestDefault(t *testing.T) {
	g, err := Parse(embedded)
	if err != nil {
		t.Fatal(err)
	}
	if m := g.Made; m.Tasks < m.Families || m.Families < 1 || m.Date == "" || !(g.Width > 0) {
		t.Errorf("the gate was fitted to nothing: %+v, width %v", m, g.Width)
	}
	for _, scales := range [][]Scale{g.Problem, g.View, g.Answer} {
		for _, s := range scales {
			if !(s.Deviation > 0) {
				t.Errorf("sign %q has the deviation %v", s.Name, s.Deviation)
			}
		}
	}
}

// A gate of other signs or views than the program's is refused.
func TestParse(t *testing.T) {
	first := func(g map[string]any, key string) map[string]any { return g[key].([]any)[0].(map[string]any) }
	cut := func(of map[string]any, key string) { of[key] = of[key].([]any)[1:] }
	for name, change := range map[string]func(g map[string]any){
		"another sign of the problem": func(g map[string]any) { first(g, "problem")["name"] = "circle" },
		"another sign of a view":      func(g map[string]any) { first(g, "view")["name"] = "circle" },
		"another sign of the answer":  func(g map[string]any) { first(g, "answer")["name"] = "circle" },
		"signs in another order":      func(g map[string]any) { slices.Reverse(g["view"].([]any)) },
		"a sign is missing":           func(g map[string]any) { cut(g, "answer") },
		"an unknown field":            func(g map[string]any) { g["rules"] = 1 },
		"an unknown field of a view":  func(g map[string]any) { first(g, "views")["rule"] = 1 },
		"a view is missing":           func(g map[string]any) { cut(g, "views") },
		"views in another order":      func(g map[string]any) { slices.Reverse(g["views"].([]any)) },
		"another view":                func(g map[string]any) { first(g, "views")["name"] = "rotation" },
		"a view lacks a coefficient":  func(g map[string]any) { cut(first(g, "views"), "signs") },
		"a shared one is missing":     func(g map[string]any) { cut(g, "shared") },
		"the error lacks one":         func(g map[string]any) { cut(g["error"].(map[string]any), "signs") },
		"wrong labels lack one":       func(g map[string]any) { cut(g["wrong"].(map[string]any), "signs") },
	} {
		var g map[string]any
		if err := json.Unmarshal(embedded, &g); err != nil {
			t.Fatal(err)
		}
		change(g)
		data, err := json.Marshal(g)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(data); err == nil || !strings.HasPrefix(err.Error(), "gate.json: ") || !strings.HasSuffix(err.Error(), "make it again with fitgate") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Parse(embedded[:len(embedded)/2]); err == nil {
		t.Error("half a gate is taken")
	}
}

// Weights sum to 1, and only what may be assumed has any.
func TestWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	for range 50 {
		g, s := randomGate(rng), random(rng, 2+rng.IntN(4), true)
		free := g.Weights(s, nil)
		for _, assume := range [][]string{nil, Views, {"balance"}, {"same", "parts"}, {"together", "classes", "parts"}} {
			w, sum := g.Weights(s, assume), 0.0
			for i, v := range s.Views {
				sum += w[i]
				if may := assume == nil || slices.Contains(assume, v.Name); may != (w[i] > 0) {
					t.Errorf("assumed %v: %s has the weight %v", assume, v.Name, w[i])
				}
				// What may have weight has it as before beside one another.
				j := slices.IndexFunc(s.Views, func(v View) bool { return assume == nil || v.Name == assume[0] })
				if w[i] > 0 && math.Abs(w[i]*free[j]-w[j]*free[i]) > 1e-12 {
					t.Errorf("assumed %v: weights %v, and %v without", assume, w, free)
				}
			}
			if math.Abs(sum-1) > 1e-12 {
				t.Errorf("assumed %v: weights %v sum to %v", assume, w, sum)
			}
		}
		if w := g.Weights(s, []string{}); w != nil {
			t.Errorf("nothing may be assumed, and the weights are %v", w)
		}
	}
}

// Where classes have no parts, the view of the classes has the weight of both.
func TestUndivided(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 0))
	for range 50 {
		g, whole := randomGate(rng), random(rng, 3, false)
		both := whole
		parts := whole.Views[3]
		parts.Name = "parts"
		both.Views = append(slices.Clone(whole.Views), parts)
		w, divided := g.Weights(whole, nil), g.Weights(both, nil)
		divided[3] += divided[4]
		for i, v := range w {
			if math.Abs(v-divided[i]) > 1e-12 {
				t.Fatalf("weights %v, and %v with the same parts beside", w, divided)
			}
		}
		for _, name := range []string{"classes", "parts"} {
			if w := g.Weights(whole, []string{name}); w[3] != 1 {
				t.Errorf("assumed %s: weights %v", name, w)
			}
		}
	}
}

// A sign that is farther out than anything of the fit says no more than there.
func TestScaled(t *testing.T) {
	scales := []Scale{{"a", 1, 2}, {"b", 0, 1}, {"c", 0, 0.1}}
	if got := scaled([]float64{5, 1e9, -7}, scales); !slices.Equal(got, []float64{2, maxScaled, -maxScaled}) {
		t.Errorf("scaled to %v", got)
	}
}

// The products of signs follow these: of those that speak against an answer, as far as they lie above their means, with
// one another and with all others.
func TestProducts(t *testing.T) {
	signs := []sign[int]{{against: true}, {}, {against: true}}
	for _, c := range []struct{ z, want []float64 }{
		{[]float64{2, 3, 5}, []float64{2, 3, 5, 4, 6, 10, 15, 25}},
		{[]float64{2, -3, 5}, []float64{2, -3, 5, 4, -6, 10, -15, 25}},
		{[]float64{-2, 3, 5}, []float64{-2, 3, 5, 0, 0, 0, 15, 25}},
		{[]float64{-2, -3, -5}, []float64{-2, -3, -5, 0, 0, 0, 0, 0}},
	} {
		got := products(signs, c.z)
		for i := range got {
			got[i] += 0 // no −0
		}
		if !slices.Equal(got, c.want) || len(got) != countProducts(signs) {
			t.Errorf("products of %v: %v, want %v", c.z, got, c.want)
		}
	}
}

// What is expected is the logistic function of the signs of the answer and their products: here of two
// signs and their squares. A square counts only where the sign lies above its mean.
func TestExpect(t *testing.T) {
	n := countProducts(answerSigns)
	g := &Gate{Error: Linear{"error", -1, make([]float64, n)}, Wrong: Linear{"wrong", -2, make([]float64, n)}}
	square := func(j int) int { return len(answerSigns) + slices.Index(pairs(answerSigns), pair{j, j}) }
	for j, name := range names(answerSigns) {
		g.Answer = append(g.Answer, Scale{name, 0, 1})
		switch name {
		case "spread":
			g.Answer[j].Mean = -2
			g.Error.Signs[j], g.Error.Signs[square(j)] = 0.5, -0.25
		case "new":
			g.Wrong.Signs[j], g.Wrong.Signs[square(j)] = 2, 7
		}
	}
	s := Signs{Prior: []float64{0.5, 0.5}, Problem: Problem{New: 0.3, Source: 1, Target: 1, Classes: 2}, Disagree: [][]float64{{0, 0.2}, {0.2, 0}},
		Views: []View{{Name: "balance", Apart: 0.5, Proportions: []float64{0.4, 0.6}}, {Name: "classes", Apart: 0.6, Proportions: []float64{0.8, 0.2}}}}
	l1, wrong := g.Expect(s, []float64{0.75, 0.25})
	// The mean is .5, .5, from which the views are .2 and .6 away, and .75 · .3 of the rows are new.
	spread := math.Log(0.75*0.2+0.25*0.6+leastLog) + 2
	wantL1 := 2 / (1 + math.Exp(1-0.5*spread+0.25*spread*spread))
	wantWrong := 1 / (1 + math.Exp(2-2*math.Log(0.75*0.3+leastLog)))
	if math.Abs(l1-wantL1) > 1e-12 || math.Abs(wrong-wantWrong) > 1e-12 {
		t.Errorf("expected are %v and %v, want %v and %v", l1, wrong, wantL1, wantWrong)
	}
}

// Reasons add up to what a view's score is above the others', but for the constants, and the
// largest comes first.
func TestWhy(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	for range 50 {
		g, s := randomGate(rng), random(rng, 3, true)
		weights, scores := g.Weights(s, nil), g.scores(s)
		for view := range s.Views {
			want := scores[view] - g.Views[view].Constant
			for i, w := range weights {
				if i != view {
					want -= w / (1 - weights[view]) * (scores[i] - g.Views[i].Constant)
				}
			}
			sum, reasons := 0.0, g.Why(s, weights, view)
			for i, r := range reasons {
				if sum += r.Value; i > 0 && math.Abs(r.Value) > math.Abs(reasons[i-1].Value) {
					t.Errorf("reason %d is larger than the one before", i)
				}
			}
			if math.Abs(sum-want) > 1e-9 {
				t.Fatalf("reasons of %s sum to %v, want %v", s.Views[view].Name, sum, want)
			}
		}
	}
}

// The words of a reason are those of how the sign lies: here the view is told apart less than the others.
func TestWhyInWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 0))
	g, s := randomGate(rng), random(rng, 2, true)
	for i := range g.Views {
		clear(g.Views[i].Signs)
	}
	clear(g.Shared)
	g.Shared[0] = -3
	for i := range s.Views {
		s.Views[i].Apart = 0.9
	}
	s.Views[1].Apart = 0.5
	for view, want := range []string{"the target's rows are told from those that it expects", "the target's rows are hardly told from those that it expects"} {
		if r := g.Why(s, g.Weights(s, nil), view)[0]; r.Text != want || (r.Value > 0) != (view == 1) {
			t.Errorf("%s: %+v, want %q", s.Views[view].Name, r, want)
		}
	}
}

// taskOf is a task of which one view has the truth, or none if it is −1.
func taskOf(rng *rand.Rand, family int, s Signs, right int) Task {
	t := Task{Name: fmt.Sprint("task", rng.Uint32()), Kind: "chosen", Family: fmt.Sprint("family", family), Signs: s, Truth: shares(rng, len(s.Prior)), Sampling: make([]float64, len(s.Prior))}
	for i := range s.Views {
		wrong := 0.05
		if i == right {
			t.Views[i].Proportions = slices.Clone(t.Truth)
		} else {
			wrong = 0.4
		}
		t.Wrong = append(t.Wrong, wrong)
	}
	return t
}

// pointed are tasks whose right view is told by a sign: by how well the target is told from what
// a view expects, or by a sign of the problem.
func pointed(rng *rand.Rand, n int, by string) (tasks []Task) {
	for i := range n {
		s := random(rng, 2+rng.IntN(3), true)
		right := rng.IntN(len(s.Views))
		switch by {
		case "apart":
			for v := range s.Views {
				if s.Views[v].Apart = 0.7 + 0.2*rng.Float64(); v == right {
					s.Views[v].Apart = 0.5 + 0.1*rng.Float64()
				}
			}
		case "misfit":
			if right = 1; s.Problem.Misfit > 10 {
				right = 3
			}
		}
		tasks = append(tasks, taskOf(rng, i%6, s, right))
	}
	return tasks
}

// The weight goes where a sign points to, also in a family that the fit has not seen.
func TestFit(t *testing.T) {
	for _, by := range []string{"apart", "misfit"} {
		var known, left []Task
		for _, task := range pointed(rand.New(rand.NewPCG(5, 0)), 300, by) {
			if task.Family == "family3" {
				left = append(left, task)
			} else {
				known = append(known, task)
			}
		}
		g, err := Fit(known, Options{})
		if err != nil {
			t.Fatal(err)
		}
		off, even := 0.0, 0.0
		for _, task := range left {
			w := g.Weights(task.Signs, nil)
			off += task.Off(task.Mean(w)) / float64(len(left))
			even += task.Off(task.Mean([]float64{.2, .2, .2, .2, .2})) / float64(len(left))
		}
		if off > even/4 {
			t.Errorf("%s: of a family that was left out the L1 error is %.3f, and %.3f with weights that are alike", by, off, even)
		}
	}
}

// What is expected is true in the mean over families that count alike, however many tasks they have.
func TestExpectedIsTrueInTheMean(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 0))
	tasks := pointed(rng, 120, "apart")
	tasks = append(tasks[:60], slices.DeleteFunc(tasks[60:], func(t Task) bool { return t.Family == "family0" })...)
	for i := range tasks {
		for k := range tasks[i].Wrong {
			tasks[i].Wrong[k] = rng.Float64()
		}
	}
	g, err := Fit(tasks, Options{Steps: 50})
	if err != nil {
		t.Fatal(err)
	}
	said, is := [2]float64{}, [2]float64{}
	for i, w := range familyWeights(tasks) {
		task := tasks[i]
		weights := g.Weights(task.Signs, nil)
		l1, wrong := g.Expect(task.Signs, weights)
		said[0] += w * l1
		said[1] += w * wrong
		is[0] += w * task.Off(task.Mean(weights))
		is[1] += w * task.WrongLabels(weights)
	}
	for i, what := range []string{"L1 error", "share of wrong labels"} {
		if math.Abs(said[i]-is[i]) > 1e-6 {
			t.Errorf("the mean %s is said to be %.6f, and is %.6f", what, said[i], is[i])
		}
	}
}

// Rows of no class of the source count in the error, though no share is theirs.
func TestOff(t *testing.T) {
	task := Task{Truth: []float64{0.5, 0.2}}
	if got := task.Off([]float64{0.6, 0.4}); math.Abs(got-0.6) > 1e-12 {
		t.Errorf("off by %v, want 0.6", got)
	}
}

// The gradient is that of the cost, by differences.
func TestGradient(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 0))
	var tasks []Task
	for i := range 8 {
		task := taskOf(rng, i%3, random(rng, 2+i%3, i%2 == 0), -1)
		task.Truth[0] /= 2 // half of the first class' rows are of no class of the source
		for k := range task.Wrong {
			task.Wrong[k] = rng.Float64()
		}
		tasks = append(tasks, task)
	}
	g, weights := &Gate{}, familyWeights(tasks)
	g.setScales(tasks, weights)
	c := newClimb(g, tasks, weights, Options{Ridge: 0.01})
	at := make([]float64, len(Views)*c.viewSize+countProducts(viewSigns))
	for j := range at {
		at[j] = rng.NormFloat64() / 3
	}
	gradient := make([]float64, len(at))
	if got, want := c.cost(at, gradient), cost(c, g, at); math.Abs(got-want) > 1e-12 {
		t.Errorf("the tasks cost %.6f, and %.6f by the gate", got, want)
	}
	for j, x := range at {
		const step = 1e-6
		at[j] = x + step
		above := c.cost(at, nil)
		at[j] = x - step
		below := c.cost(at, nil)
		at[j] = x
		if want := (above - below) / (2 * step); math.Abs(gradient[j]-want) > 1e-6 {
			t.Errorf("parameter %d: %.8f, and %.8f by differences", j, gradient[j], want)
		}
	}
}

// cost is what climb makes least, by a gate with these parameters.
func cost(c *climb, scales *Gate, at []float64) (sum float64) {
	g := *scales
	for i, name := range Views {
		own := c.own(at, i)
		g.Views = append(g.Views, Linear{name, own[0], own[1:]})
	}
	g.Shared = at[len(Views)*c.viewSize:]
	for j, p := range at {
		sum += c.Ridge * p * p
		if j >= len(at)-len(g.Shared)+len(viewSigns) {
			sum += (productCosts - 1) * c.Ridge * p * p
		}
	}
	for i, t := range c.tasks {
		w := g.Weights(t.Signs, nil)
		cost := wrongCosts * dot(w, t.Wrong)
		for k, p := range t.Mean(w) {
			cost += math.Sqrt((p-t.Truth[k])*(p-t.Truth[k]) + smooth*smooth)
		}
		sum += c.weights[i] * cost
	}
	return sum
}

// Families count alike, and so do the tasks of one; simulated ones count less.
func TestFamilyWeights(t *testing.T) {
	got := familyWeights([]Task{{Family: "a"}, {Family: "b"}, {Family: "a"}, {Family: "a"}, {Family: "a"}, {Family: Simulated + "1"}})
	for i, want := range []float64{.25, 1, .25, .25, .25, simulated} {
		if ratio := got[i] / got[1]; math.Abs(ratio-want) > 1e-12 {
			t.Errorf("task %d counts %v times as much as the only one of its family, want %v", i, ratio, want)
		}
	}
}

// A task whose parts do not fit together is refused by its name.
func TestFitRefuses(t *testing.T) {
	for name, change := range map[string]func(t *Task){
		"truth of other classes":      func(t *Task) { t.Truth = t.Truth[1:] },
		"wrong labels of other views": func(t *Task) { t.Wrong = t.Wrong[1:] },
		"labels of other views":       func(t *Task) { t.Disagree = t.Disagree[1:] },
		"variances of other classes":  func(t *Task) { t.Sampling = nil },
		"shares of other classes":     func(t *Task) { t.Views[2].Proportions = []float64{1} },
		"an unknown view":             func(t *Task) { t.Views[0].Name = "rotation" },
		"no views":                    func(t *Task) { t.Views, t.Wrong, t.Disagree = nil, nil, nil },
	} {
		tasks := pointed(rand.New(rand.NewPCG(8, 0)), 3, "apart")
		change(&tasks[1])
		if _, err := Fit(tasks, Options{Steps: 1}); err == nil || !strings.Contains(err.Error(), "task "+tasks[1].Name+":") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Fit(nil, Options{}); err == nil || !strings.Contains(err.Error(), "fitgate study") {
		t.Errorf("no tasks: %v", err)
	}
}
