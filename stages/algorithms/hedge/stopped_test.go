package hedge

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
	"mars.dev/mars/stages/algorithms/labelshift"
)

// begun is a fit that is ready to learn.
func begun(t *testing.T, p Problem) *fit {
	t.Helper()
	f, err := begin(t.Context(), p, Options{Classifiers: []string{"logistic"}})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Each part of a fit returns the error of a context that has ended: it does not leave that to the part after it.
func TestPartsStop(t *testing.T) {
	p := newProblem(60, even, even, nowhere).Problem
	f := begun(t, p)
	learners, err := f.learn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l := learners[0]
	m := hedged(t, p)
	z := m.Prepare(p.Target)
	many := begun(t, crowd(manyClasses+6, 3, 60).Problem)
	test := many.newStayTest(many.source, many.target, many.labels)
	batches := persons(3, LeftRows).Problem
	// Wider clouds than those of the source are taken for noise.
	loud := dense.Clone(f.target)
	for i := range loud.Data {
		loud.Data[i] *= 4
	}
	f.stays, many.stays = tested{}, tested{}
	ended, end := context.WithCancel(t.Context())
	end()
	for name, part := range map[string]func() error{
		"axes":     func() error { _, err := principalAxes(ended, f.source, partAxes); return err },
		"parts":    func() error { _, err := divide(ended, f.source, f.labels, f.classes, 0); return err },
		"prepare":  func() error { return f.prepare(ended, f.source, f.target) },
		"together": func() error { _, err := f.together(ended); return err },
		"by class": func() error { _, err := f.byClass(ended); return err },
		"by part":  func() error { _, err := f.byPart(ended); return err },
		"train":    func() error { return f.train(ended, &learner{rows: f.source}, false) },
		"views":    func() error { _, _, err := f.see(ended, []*learner{{mean: l.mean}, nil, nil, nil}); return err },
		"shares":   func() error { _, err := f.shifted(ended, &learner{mean: l.mean}); return err },
		"members":  func() error { _, err := f.membersApart(ended, &learner{mean: l.mean}); return err },
		"some members": func() error {
			_, err := f.membersApart(ended, &learner{shares: f.prior, members: l.members})
			return err
		},
		"trees":         func() error { _, err := f.trees(ended, f.source, []int{0}); return err },
		"apart":         func() error { return f.apart(ended, &View{Name: "balance", Proportions: f.prior}, f.source) },
		"typicality":    func() error { _, err := f.learnTypicality(ended, f.source); return err },
		"what is kept":  func() error { return (&Model{}).keep(ended, f, learners[:1]) },
		"noise":         func() error { _, err := many.noise(ended, many.source, many.target, nil); return err },
		"listen":        func() error { _, err := f.listen(ended, f.source, loud); return err },
		"listen, many":  func() error { _, err := many.listen(ended, many.source, many.target); return err },
		"stays":         func() error { _, err := f.testStays(ended, f.nearness); return err },
		"stays, many":   func() error { _, _, err := test.run(ended); return err },
		"batches":       func() error { return (&Field{}).learn(ended, batches, Options{}, func() {}) },
		"with batches":  func() error { _, err := Fit(ended, batches, Options{}); return err },
		"variances":     func() error { _, _, err := m.sample(ended, f, posteriorsOf(m, l), IntervalOptions{}); return err },
		"sums":          func() error { return m.Respond(ended, m.NewSums(), Point{f.prior}, z) },
		"labels":        func() error { _, err := m.Predict(ended, z); return err },
		"of each view":  func() error { _, err := m.Posteriors(ended, z); return err },
		"as in source":  func() error { _, err := m.Unadjusted(ended, z); return err },
		"typical rows":  func() error { _, err := m.Typicality(ended, z, l.mean); return err },
		"a row's block": func() error { return eachBlock(ended, 1, func(int, int) error { return nil }) },
	} {
		if err := part(); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want %v", name, err, context.Canceled)
		}
	}
}

// endsIn is a context that ends when a function, or what that calls, asks it; if after is set, when another asks it after that.
type endsIn struct {
	context.Context
	function    string
	after       bool
	seen, ended bool
}

func (c *endsIn) Err() error {
	var callers [64]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers[:])])
	in := false
	for more := true; more && !in; {
		var f runtime.Frame
		f, more = frames.Next()
		in = strings.HasSuffix(f.Function, c.function)
	}
	c.ended = c.ended || in && !c.after || !in && c.seen
	if c.seen = c.seen || in; c.ended {
		return context.Canceled
	}
	return nil
}

// A fit returns the error of a context that ends in any of its parts.
func TestFitStopsInEachPart(t *testing.T) {
	kernel.SetJobs(1) // in one goroutine, whose stack says which part asks
	defer kernel.SetJobs(0)
	noisy := newProblem(150, even, uneven, nowhere)
	rng := rand.New(rand.NewPCG(6, 0))
	for i := range noisy.Target.Data {
		noisy.Target.Data[i] += float32(3 * rng.NormFloat64())
	}
	small := newProblem(60, even, even, nowhere).Problem
	batches := persons(3, LeftRows).Problem
	fit := func(p Problem) func(ctx context.Context) error {
		return func(ctx context.Context) error {
			_, err := Fit(ctx, p, Options{Classifiers: []string{"logistic"}, Interval: &IntervalOptions{Replicates: 2}})
			return err
		}
	}
	for name, c := range map[string]struct {
		ctx *endsIn
		f   func(ctx context.Context) error
	}{
		"views":          {&endsIn{function: "(*fit).see"}, fit(small)},
		"what is kept":   {&endsIn{function: "(*Model).keep"}, fit(small)},
		"variances":      {&endsIn{function: "(*Model).sample"}, fit(small)},
		"noise":          {&endsIn{function: "(*fit).listen"}, fit(noisy.Problem)},
		"source with it": {&endsIn{function: "(*fit).listen", after: true}, fit(noisy.Problem)},
		"a batch's labels": {&endsIn{function: "(*Model).Posteriors"}, func(ctx context.Context) error {
			_, _, _, err := leaveOut(ctx, batches, Options{Classifiers: []string{"logistic"}}, batchRows(batches, 0), 0)
			return err
		}},
		"moved classes": {&endsIn{function: "(*fit).move"}, func(ctx context.Context) error {
			_, err := begun(t, small).byClass(ctx)
			return err
		}},
	} {
		c.ctx.Context = t.Context()
		if err := c.f(c.ctx); !errors.Is(err, context.Canceled) || !c.ctx.ended {
			t.Errorf("%s: error %v, want %v (%v)", name, err, context.Canceled, c.ctx.ended)
		}
	}
}

// posteriorsOf are those of each view of a model, all by one learner.
func posteriorsOf(m *Model, l *learner) (all []blas32.General) {
	for range m.Views {
		all = append(all, l.mean)
	}
	return all
}

// A row whose posteriors are no numbers is an error with its number, and no answer.
func TestRowsWithoutNumbers(t *testing.T) {
	p := newProblem(60, even, even, nowhere).Problem
	m := hedged(t, p, "balance")
	z := m.Prepare(p.Target)
	dense.Row(z, 7)[0] = float32(math.NaN())
	_, labels := m.Predict(t.Context(), z)
	_, views := m.Posteriors(t.Context(), z)
	for want, err := range map[string]error{
		"labelshift: row 7 has no posterior above 0 for any class of the source: raise its posteriors": labels,
		"labelshift: row 7, class 0 has the posterior NaN: give numbers from 0 to 1":                   m.Respond(t.Context(), m.NewSums(), Point{m.prior}, z),
	} {
		if err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if views == nil || views.Error() != labels.Error() {
		t.Errorf("of each view: error %v, want %v", views, labels)
	}
}

// Rows that say nothing of the classes have no sampling error, and so no answer.
func TestAnswerOfRowsThatAreAlike(t *testing.T) {
	m := hedged(t, newProblem(60, even, even, nowhere).Problem, "balance")
	s := m.NewSums()
	alike := dense.New(10, 3)
	for i := range alike.Data {
		alike.Data[i] = 1. / 3
	}
	for _, sums := range []*labelshift.EMSums{s.EM[0], s.Posteriors} {
		if err := sums.Add(alike, m.prior, m.prior); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := m.Answer(s, Point{m.prior}, 0); err == nil || !strings.HasPrefix(err.Error(), "hedge: view balance: labelshift: the classes cannot be told apart") {
		t.Errorf("error %v", err)
	}
}
