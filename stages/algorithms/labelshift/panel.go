package labelshift

import (
	"context"
	"fmt"
	"slices"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/mte"
)

// Panel is the estimates of four estimators that go wrong in different ways.
type Panel struct {
	// Members are "mte", whose proportions are the panel's; "adapt", EM with
	// Gaussians whose covariances adapt to the target; "refit"; and "cc".
	Members []*Result
	// Disagreement is D, the mean L1 distance of the first to adapt and refit,
	// from 0 to 2. cc takes no part: it errs by what the others correct, so that
	// its distance says how far the classes have moved, not whether they were
	// followed.
	Disagreement float64
	// Aligned is MTE after the source as a whole has been given the mean and the
	// covariance of the target, and Alignment its L1 distance from the first
	// member: an opinion like cc's, for it takes a change of the proportions for
	// a move.
	Aligned   *Result
	Alignment float64
	// Warnings are doubts about the proportions in words.
	Warnings []string

	fit *mte.MTE
}

// Estimates are the proportions of all members and of Aligned by name.
func (p *Panel) Estimates() map[string][]float64 {
	estimates := map[string][]float64{p.Aligned.Estimator: p.Aligned.Proportions}
	for _, e := range p.Members {
		estimates[e.Estimator] = e.Proportions
	}
	return estimates
}

// peers are the members that Disagreement and intervals go by: those that let
// the classes move, as MTE does.
func (p *Panel) peers() []*Result { return p.Members[1:3] }

const (
	// fewRows is below which number of target rows, and manyClasses above which
	// number of classes, MTE has not been studied.
	fewRows     = 150
	manyClasses = 10
	// fewOfClass is how many source rows say little about a class.
	fewOfClass = 10
)

// Consult asks the panel. train is a classifier such as a small network; it is
// trained twice, on the standardised features (at most 50). Options and errors
// are those of package mte; the target is gone through six times.
func Consult(ctx context.Context, p mte.Problem, train Classifier, o mte.Options) (*Panel, error) {
	m, err := mte.Fit(ctx, p, o)
	if err != nil {
		return nil, err
	}
	panel := &Panel{fit: m, Members: []*Result{found("mte", m.Estimate, m.Warnings)}}
	for _, ask := range []func(context.Context, *mte.MTE, Classifier) (*Result, error){adapted, refitted, counted} {
		r, err := ask(ctx, m, train)
		if err != nil {
			return nil, err
		}
		panel.Members = append(panel.Members, r)
	}
	for _, r := range panel.peers() {
		panel.Disagreement += dense.L1(m.Proportions, r.Proportions) / float64(len(panel.peers()))
	}
	if panel.Aligned, err = aligned(ctx, m); err != nil {
		return nil, err
	}
	panel.Alignment = dense.L1(m.Proportions, panel.Aligned.Proportions)
	panel.Warnings = slices.Concat(m.Warnings, unstudied(m))
	return panel, nil
}

// adapted is the second member of the panel.
func adapted(ctx context.Context, m *mte.MTE, _ Classifier) (*Result, error) {
	e, err := m.Adapted(ctx)
	if err != nil {
		return nil, err
	}
	return found("adapt", e, nil), nil
}

// Proportions returns p_T, that of MTE.
func (p *Panel) Proportions() []float64 { return p.Members[0].Proportions }

// unstudied warns of problems of a kind on which MTE has not been studied.
func unstudied(m *mte.MTE) []string {
	var words []string
	warn := func(format string, values ...any) { words = append(words, fmt.Sprintf(format, values...)) }
	if n := m.Responsibilities.Rows; n < fewRows {
		warn("there are only %d target rows: the estimator has not been studied below %d", n, fewRows)
	}
	present := m.Present()
	if c := len(present.Class); c > manyClasses {
		warn("there are %d classes: the estimator has not been studied above %d", c, manyClasses)
	}
	for k, p := range present.Prior {
		if n := int(p*float64(len(present.Labels)) + 0.5); n < fewOfClass {
			warn("class %s has few source rows (%d): little is known of where it lies", m.Problem().Name(present.Class[k]), n)
		}
	}
	return words
}
