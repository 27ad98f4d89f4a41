package labelshift

import (
	"fmt"
	"slices"
)

// Panel is the opinions of four estimators that go wrong in different ways.
type Panel struct {
	// Members are "mte", whose proportions are the panel's; "adapt", EM with
	// Gaussians whose covariances adapt to the target; "refit"; and "cc".
	Members []*Estimate
	// Disagreement is D, the mean L1 distance of the first to adapt and refit,
	// from 0 to 2. cc takes no part: it errs by what the others correct, so that
	// its distance says how far the classes have moved, not whether they were
	// followed.
	Disagreement float64
	// Aligned is MTE after the source as a whole has been given the mean and the
	// covariance of the target, and Alignment its L1 distance from the first
	// member: an opinion like cc's, for it takes a change of the proportions for
	// a move.
	Aligned   *Estimate
	Alignment float64
	// Warnings are doubts about the proportions in words.
	Warnings []string
}

// Opinions are the proportions of all members and of Aligned by name.
func (p *Panel) Opinions() map[string][]float64 {
	opinions := map[string][]float64{p.Aligned.Estimator: p.Aligned.Proportions}
	for _, e := range p.Members {
		opinions[e.Estimator] = e.Proportions
	}
	return opinions
}

// dissenters are the members that Disagreement and intervals go by: those that
// let the classes move, as MTE does.
func (p *Panel) dissenters() []*Estimate { return p.Members[1:3] }

const (
	// fewRows is below which number of target rows, and manyClasses above which
	// number of classes, MTE has not been studied.
	fewRows     = 150
	manyClasses = 10
	// fewOfClass is how many source rows say little about a class.
	fewOfClass = 10
)

// adaptShrinkage and adaptCovariance are κ of the panel's second member, and
// the share of n_T that the source's covariance counts for.
const (
	adaptShrinkage  = 0.05
	adaptCovariance = 0.2
	adaptStart      = "ward"
)

// Consult asks the panel. train is a classifier such as a small network; it is
// trained twice, on the standardised features (at most 50). Options and errors
// are those of MTE; the target is gone through six times.
func Consult(p Problem, train Classifier, o MTEOptions) (*Panel, error) {
	first, err := MTE(p, o)
	if err != nil {
		return nil, err
	}
	m := first.match
	panel := &Panel{Members: []*Estimate{first}}
	for _, member := range []func() (*Estimate, error){
		m.adapted,
		func() (*Estimate, error) { return m.refit(train) },
		func() (*Estimate, error) { return m.count(train) },
	} {
		e, err := member()
		if err != nil {
			return nil, err
		}
		panel.Members = append(panel.Members, e)
	}
	for _, e := range panel.dissenters() {
		panel.Disagreement += distance(first.Proportions, e.Proportions) / float64(len(panel.dissenters()))
	}
	if panel.Aligned, err = m.aligned(); err != nil {
		return nil, err
	}
	panel.Alignment = distance(first.Proportions, panel.Aligned.Proportions)
	panel.Warnings = slices.Concat(first.Warnings, m.doubts())
	return panel, nil
}

// Proportions returns p_T, that of MTE.
func (p *Panel) Proportions() []float64 { return p.Members[0].Proportions }

// adapted is the second member of the panel.
func (m *match) adapted() (*Estimate, error) {
	start := m.starts[0]
	for _, s := range m.starts {
		if s.name == adaptStart {
			start = s
		}
	}
	runs, err := m.run(settings{strength: adaptShrinkage, adapt: adaptCovariance}, []displacement{start})
	if err != nil {
		return nil, err
	}
	e := &Estimate{Proportions: runs[0].proportions, Iterations: runs[0].steps, Converged: runs[0].steps < m.options.Steps}
	e.Responsibilities = m.respond(runs[0].before)
	return m.widen(e, "adapt"), nil
}

// doubts are the warnings of a panel.
func (m *match) doubts() []string {
	var words []string
	say := func(format string, values ...any) { words = append(words, fmt.Sprintf(format, values...)) }
	if m.target.Rows < fewRows {
		say("there are only %d target rows: the estimator has not been studied below %d", m.target.Rows, fewRows)
	}
	if c := len(m.present.class); c > manyClasses {
		say("there are %d classes: the estimator has not been studied above %d", c, manyClasses)
	}
	for k, p := range m.present.prior {
		if n := int(p*float64(len(m.present.labels)) + 0.5); n < fewOfClass {
			say("class %s has only %d source rows: little is known of where it lies", m.problem.name(m.present.class[k]), n)
		}
	}
	return words
}
