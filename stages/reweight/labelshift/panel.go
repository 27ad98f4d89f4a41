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
	// Disagreement is D, the mean L1 distance of the first to the others, from
	// 0 to 2.
	Disagreement float64
	// Aligned is MTE after the source as a whole has been given the mean and the
	// covariance of the target, and Alignment its L1 distance from the first
	// member. Where the members err alike it can be the better sign of failure,
	// elsewhere it is the worse one; no warning is made of it.
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

const (
	// Threshold is the disagreement above which proportions are not to be
	// believed: docs/estimators.md has where it was right and where not.
	Threshold = 0.2
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
		panel.Disagreement += distance(first.Proportions, e.Proportions) / 3
	}
	if panel.Aligned, err = m.aligned(); err != nil {
		return nil, err
	}
	panel.Alignment = distance(first.Proportions, panel.Aligned.Proportions)
	panel.Warnings = slices.Concat(first.Warnings, m.doubts(panel.Disagreement))
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
	e := &Estimate{Proportions: runs[0].proportions, Iterations: m.options.Steps, Converged: true}
	e.Responsibilities = m.respond(runs[0].before)
	return m.widen(e, "adapt"), nil
}

// doubts are the warnings of a panel.
func (m *match) doubts(disagreement float64) []string {
	var words []string
	say := func(format string, values ...any) { words = append(words, fmt.Sprintf(format, values...)) }
	if disagreement > Threshold {
		say("the estimators disagree by %.2f (more than %.1f): in a study three of four such estimates were off by more than 0.2 in L1: check labels of some target rows before relying on the proportions", disagreement, Threshold)
	}
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
