package labelshift

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
)

// MTEOptions are the options of MTE. The zero value is usable.
type MTEOptions struct {
	// Pooling is the share of the pooled covariance in that of each class;
	// 0 means 0.6.
	Pooling float64
	// Freedom is ν, the degrees of freedom of Student's t; 0 means 10.
	Freedom float64
	// Shrinkage is κ: class means are shrunk to where the map that all classes
	// share takes them, which counts for κ·n_T rows; 0 means 0.03.
	Shrinkage float64
	// Ridge is ρ, which holds that map near the identity; 0 means 1.
	Ridge float64
	// Steps is how many EM steps are taken from each start at most; 0 means
	// 200.
	Steps int
	// Tolerance ends them when the proportions from no start change by as much
	// in a step, in L1; 0 means 1e-5. Where the classes are well apart that
	// takes some 15 steps, where they are near all of them: EM stopped early
	// stays near the source's proportions, from which it begins.
	Tolerance float64
	// StartRows is how many target rows at most are clustered for the starting
	// displacements; of more a sample is drawn. 0 means 5,000.
	StartRows int
	// MaxRows is how many target rows at most take part in all EM steps; of
	// more rows a sample does and all rows in 5 more steps alone. 0 means
	// 50,000.
	MaxRows int
	// Seed draws samples and the mixture's start.
	Seed uint64
}

// finalSteps is how many EM steps are over all rows, after those over a sample,
// if there are more than MaxRows. κ counts rows in proportion, so the steps
// before lead to the same place but for the sample's error.
const finalSteps = 5

// scalePower is the power of the ratio of variances that axes are scaled by.
const scalePower = 0.5

// withDefaults panics at negative options.
func (o MTEOptions) withDefaults() MTEOptions {
	if min(o.Pooling, o.Freedom, o.Shrinkage, o.Ridge, o.Tolerance) < 0 || min(o.Steps, o.StartRows, o.MaxRows) < 0 {
		panic("labelshift: MTEOptions must not be negative")
	}
	setDefault(&o.Pooling, 0.6)
	setDefault(&o.Freedom, 10)
	setDefault(&o.Shrinkage, 0.03)
	setDefault(&o.Ridge, 1)
	setDefault(&o.Steps, 200)
	setDefault(&o.Tolerance, 1e-5)
	setDefault(&o.StartRows, 5_000)
	setDefault(&o.MaxRows, 50_000)
	return o
}

// setDefault gives an option that is zero its default.
func setDefault[T int | float64](option *T, value T) {
	if *option == 0 {
		*option = value
	}
}

func (o MTEOptions) settings() settings {
	return settings{density: density{o.Freedom}, strength: o.Shrinkage, affine: true, ridge: o.Ridge, scale: scalePower}
}

// match is what MTE has learned.
type match struct {
	options      MTEOptions
	problem      Problem
	present      *present
	wide, narrow *space
	source       blas32.General // n_S×q, in the narrow space
	target       blas32.General // n_T×q
	classes      *gaussians
	starts       []displacement
	runs         []*run
	warnings     []string
	best         int       // the run nearest to the proportions
	proportions  []float64 // of the present classes
	// responsibilities is n_T×(present classes): those of the best run.
	responsibilities blas32.General
}

// MTE estimates p_T by match–translate–EM, an extension of the paper's
// Algorithm 2 for classes that have moved and changed their look.
//
//  1. Features are standardised by the source, clipped at 8 standard
//     deviations, reduced to 50 principal components of the source where there
//     are more, and projected on the C−1 linear discriminants of the source.
//  2. The classes are Gaussians, their covariances shrunk to the pooled one.
//  3. Starting displacements of the class means are none, that of the overall
//     mean, and the medians of the displacements to the components that they
//     are matched with: of Ward's clustering in C, in 2C clusters, and of a
//     Gaussian mixture.
//  4. From each start EM, with Student's t as the density, moves the class
//     means by an affine map that they share and, within limits, each its own
//     way, scales the axes for all classes alike, and estimates p_T.
//  5. The estimate is the median over the starts, normalised; the
//     responsibilities are those of the start nearest to it.
//
// The target is gone through once; C−1 float32 values a row are kept, and then
// C responsibilities.
//
// A class without source rows has the proportion 0 and a warning. MTE fails if
// fewer than two classes have rows, if a value is not finite, if all source
// rows or all target rows or all class means are equal, and if there are fewer
// target rows than classes.
func MTE(p Problem, o MTEOptions) (*Estimate, error) {
	m, err := newMatch(p, o.withDefaults())
	if err != nil {
		return nil, err
	}
	if err := m.fit(); err != nil {
		return nil, err
	}
	return m.estimate(), nil
}

// newMatch learns from the source and projects the target.
func newMatch(p Problem, o MTEOptions) (*match, error) {
	m := &match{options: o, problem: p}
	if err := checkSource(p.Source, p.Labels); err != nil {
		return nil, err
	}
	var err error
	if m.present, err = newPresent(p.Labels, p.Classes); err != nil {
		return nil, err
	}
	classes := len(m.present.class)
	if m.wide, m.narrow, err = spaces(p.Source, m.present.labels, classes); err != nil {
		return nil, err
	}
	m.source = m.narrow.apply(p.Source)
	sums := classSums(m.source, m.present.labels, nil, classes)
	m.classes = newGaussians(sums, monomials(m.source.Cols), o.Pooling)
	if m.target, err = m.project(); err != nil {
		return nil, err
	}
	if m.target.Rows < classes {
		return nil, fmt.Errorf("labelshift: %d target rows for %d classes: give more target rows", m.target.Rows, classes)
	}
	if allEqual(m.target) {
		return nil, fmt.Errorf("labelshift: all %d target rows are equal: give the target's features", m.target.Rows)
	}
	return m, nil
}

// project goes through the target and keeps it in the narrow space.
func (m *match) project() (blas32.General, error) {
	target := newRows(0, m.narrow.dim())
	err := m.eachBlock(func(x blas32.General) error {
		if err := checkFinite("target", x, target.Rows); err != nil {
			return err
		}
		target.Data = append(target.Data, m.narrow.apply(x).Data...)
		target.Rows += x.Rows
		return nil
	})
	return target, err
}

// eachBlock calls f for each block of the target.
func (m *match) eachBlock(f func(x blas32.General) error) error {
	for x, err := range m.problem.Target {
		if err != nil {
			return fmt.Errorf("labelshift: reading the target: %w", err)
		}
		if x.Rows > 0 && x.Cols != m.problem.Source.Cols {
			return fmt.Errorf("labelshift: target rows have %d columns and source rows %d: give both the same features", x.Cols, m.problem.Source.Cols)
		}
		if err := f(x); err != nil {
			return err
		}
	}
	return nil
}

// fit runs EM from every start, all at a time.
func (m *match) fit() error {
	var err error
	m.starts, m.warnings, err = displacements(m.classes, m.target, m.options.StartRows, m.options.Seed)
	if err != nil {
		return err
	}
	if m.runs, err = m.run(m.options.settings(), m.starts); err != nil {
		return err
	}
	m.choose()
	return nil
}

// run takes EM steps from each start.
func (m *match) run(s settings, starts []displacement) ([]*run, error) {
	runs := make([]*run, len(starts))
	for i, d := range starts {
		var err error
		if runs[i], err = newRun(s, m.classes, d.by); err != nil {
			return nil, err
		}
	}
	o := m.options
	if m.target.Rows <= o.MaxRows {
		return runs, iterate(runs, m.target, o.Steps, o.Tolerance)
	}
	sample := gather(m.target, sampleIndex(m.target.Rows, o.MaxRows, o.Seed))
	if err := iterate(runs, sample, o.Steps, o.Tolerance); err != nil {
		return nil, err
	}
	return runs, iterate(runs, m.target, min(finalSteps, o.Steps), 0)
}

// iterate takes at most so many steps over the rows of x, and ends when the
// proportions of every run change by less than tolerance. What each run was
// before its last M-step, whose responsibilities are the estimate, is kept.
func iterate(runs []*run, x blas32.General, steps int, tolerance float64) error {
	s := runs[0].settings
	e := newExpectation(x, s.density, len(runs), len(runs[0].proportions), s.adapt > 0)
	for _, r := range runs {
		r.rows = r.total(x.Rows)
	}
	for range steps {
		e.expect(runs)
		change := 0.0
		for _, r := range runs {
			r.before = r.snapshot()
			if err := r.maximise(); err != nil {
				return err
			}
			r.steps++
			change = max(change, distance(r.proportions, r.before.proportions))
		}
		if change < tolerance {
			break
		}
	}
	return nil
}

// choose takes the median of the runs in each class, and the run nearest to it.
func (m *match) choose() {
	m.proportions = make([]float64, len(m.present.class))
	values := make([]float64, len(m.runs))
	for k := range m.proportions {
		for i, r := range m.runs {
			values[i] = r.proportions[k]
		}
		m.proportions[k] = medianOf(values)
	}
	normalize(m.proportions)
	for i, r := range m.runs {
		if distance(r.proportions, m.proportions) < distance(m.runs[m.best].proportions, m.proportions) {
			m.best = i
		}
	}
}

// estimate goes through the rows once more for their responsibilities.
func (m *match) estimate() *Estimate {
	best := m.runs[m.best]
	e := &Estimate{Proportions: m.proportions, Iterations: best.steps, Converged: best.steps < m.options.Steps,
		Warnings: append(m.present.warnings(), m.warnings...), match: m}
	m.responsibilities = m.respond(best.before)
	e.Responsibilities = m.responsibilities
	for i, s := range m.starts {
		e.Starts = append(e.Starts, Start{Name: s.name, Proportions: m.present.spread(m.runs[i].proportions)})
	}
	return m.widen(e, "mte")
}

// respond returns the responsibilities of a run, n_T×(present classes).
func (m *match) respond(r *run) blas32.General {
	dst := newRows(m.target.Rows, len(r.proportions))
	newExpectation(m.target, r.density, 1, dst.Cols, false).responsibilities(dst, r)
	return dst
}
