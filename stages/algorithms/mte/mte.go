package mte

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/affine"
	"mars.dev/mars/stages/algorithms/internal/classes"
	"mars.dev/mars/stages/algorithms/internal/dense"
)

// Options of a fit. The zero value is usable.
type Options struct {
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
	// takes some 15 steps; where they are near, all of them. EM that is stopped
	// early stays near the source's proportions, from which it begins.
	Tolerance float64
	// StartRows is how many target rows at most are clustered for the starting
	// displacements; of more a sample is drawn. 0 means 5,000.
	StartRows int
	// MaxRows is how many target rows at most take part in all EM steps. Of
	// more rows a sample does, and then all rows in 5 more steps. 0 means
	// 50,000.
	MaxRows int
	// Prepared says that the rows have been standardised, or are principal
	// components, and that their scales are to be kept.
	Prepared bool
	// Seed draws samples and the mixture's start.
	Seed uint64
}

// withDefaults panics at negative options.
func (o Options) withDefaults() Options {
	if min(o.Pooling, o.Freedom, o.Shrinkage, o.Ridge, o.Tolerance) < 0 || min(o.Steps, o.StartRows, o.MaxRows) < 0 {
		panic("mte: options must not be negative")
	}
	o.Pooling = cmp.Or(o.Pooling, 0.6)
	o.Freedom = cmp.Or(o.Freedom, 10)
	o.Shrinkage = cmp.Or(o.Shrinkage, 0.03)
	o.Ridge = cmp.Or(o.Ridge, 1)
	o.Steps = cmp.Or(o.Steps, 200)
	o.Tolerance = cmp.Or(o.Tolerance, 1e-5)
	o.StartRows = cmp.Or(o.StartRows, 5_000)
	o.MaxRows = cmp.Or(o.MaxRows, 50_000)
	return o
}

// finalSteps is how many EM steps are over all rows, after those over a sample,
// if there are more than MaxRows. κ counts rows in proportion, so the steps
// before lead to the same place, up to the sample's error.
const finalSteps = 5

// scalePower is the power of the ratio of variances that axes are scaled by.
const scalePower = 0.5

func (o Options) movement() movement {
	return movement{density: density{o.Freedom}, shrinkage: o.Shrinkage, affine: true, ridge: o.Ridge, scalePower: scalePower}
}

// Estimate is what EM has found from one or several starts.
type Estimate struct {
	// Proportions is p_T: C values that sum to 1. That of a class without
	// source rows is 0.
	Proportions []float64
	// Responsibilities is n_T×C: the class posteriors of the target rows under
	// Proportions.
	Responsibilities blas32.General
	// Iterations is how many steps were taken, and Converged whether they ended
	// for lack of change.
	Iterations int
	Converged  bool
}

// Start is one starting displacement.
type Start struct {
	// Name is "none", "means", "ward", "ward2" or "gmm".
	Name string
	// Proportions is the p_T that EM reached from it.
	Proportions []float64
}

// MTE is a fit to a Problem.
type MTE struct {
	Estimate
	// Starts says where each starting displacement led.
	Starts []Start
	// Warnings are doubts in words.
	Warnings []string

	options Options
	problem Problem
	present *classes.Present

	wide, narrow *affine.Map
	source       blas32.General // n_S×q, in the narrow space
	target       blas32.General // n_T×q
	gaussians    *gaussians     // of the source's classes

	displacements []displacement
	runs          []*em
	best          int       // the run nearest to the proportions
	proportions   []float64 // of the present classes
}

// Fit finds the classes of the source in the target. The target is gone through
// once; C−1 float32 values a row are kept, and then C responsibilities.
//
// A class without source rows has the proportion 0 and a warning. Fit fails if
// fewer than two classes have rows, if a value is not finite, if all source
// rows or all target rows or all class means are equal, and if there are fewer
// target rows than classes. The end of ctx ends it.
func Fit(ctx context.Context, p Problem, o Options) (*MTE, error) {
	m, err := prepare(ctx, p, o.withDefaults())
	if err != nil {
		return nil, err
	}
	if err := m.fit(ctx); err != nil {
		return nil, err
	}
	return m, nil
}

// prepare learns from the source and projects the target.
func prepare(ctx context.Context, p Problem, o Options) (*MTE, error) {
	m := &MTE{options: o, problem: p}
	if err := p.checkSource(); err != nil {
		return nil, err
	}
	var err error
	if m.present, err = classes.NewPresent(p.Labels, p.Classes); err != nil {
		return nil, fmt.Errorf("mte: %w", err)
	}
	c := len(m.present.Class)
	if m.wide, m.narrow, err = spaces(ctx, p.Source, m.present.Labels, c, o.Prepared); err != nil {
		return nil, err
	}
	m.source = m.narrow.Apply(p.Source, nil)
	sums := classSums(m.source, m.present.Labels, nil, c)
	m.gaussians = newGaussians(sums, monomials(m.source.Cols), o.Pooling)
	if m.target, err = m.project(); err != nil {
		return nil, err
	}
	if m.target.Rows < c {
		return nil, fmt.Errorf("mte: %d target rows for %d classes: give more target rows", m.target.Rows, c)
	}
	if allEqual(m.target) {
		return nil, fmt.Errorf("mte: all %d target rows are equal: give the target's features", m.target.Rows)
	}
	return m, nil
}

// project goes through the target and keeps it in the narrow space.
func (m *MTE) project() (blas32.General, error) {
	target := dense.New(0, m.narrow.Width())
	err := m.problem.eachBlock(func(x blas32.General) error {
		if err := dense.CheckFinite("target", x, target.Rows); err != nil {
			return fmt.Errorf("mte: %w", err)
		}
		target.Data = append(target.Data, m.narrow.Apply(x, nil).Data...)
		target.Rows += x.Rows
		return nil
	})
	return target, err
}

// fit runs EM from every start, all at a time.
func (m *MTE) fit(ctx context.Context) error {
	var err error
	m.displacements, m.Warnings, err = displacements(ctx, m.gaussians, m.target, m.options.StartRows, m.options.Seed)
	if err != nil {
		return err
	}
	if m.runs, err = m.run(ctx, m.options.movement(), m.displacements); err != nil {
		return err
	}
	m.choose()
	return m.finish(ctx)
}

// run takes EM steps from each start.
func (m *MTE) run(ctx context.Context, how movement, starts []displacement) ([]*em, error) {
	runs := make([]*em, len(starts))
	for i, d := range starts {
		var err error
		if runs[i], err = newEM(how, m.gaussians, d.by); err != nil {
			return nil, err
		}
	}
	o := m.options
	if m.target.Rows <= o.MaxRows {
		return runs, iterate(ctx, runs, m.target, o.Steps, o.Tolerance)
	}
	sample := dense.Gather(m.target, sampleIndex(m.target.Rows, o.MaxRows, o.Seed))
	if err := iterate(ctx, runs, sample, o.Steps, o.Tolerance); err != nil {
		return nil, err
	}
	return runs, iterate(ctx, runs, m.target, min(finalSteps, o.Steps), 0)
}

// choose takes the median of the runs in each class, and the run nearest to it.
func (m *MTE) choose() {
	m.proportions = make([]float64, len(m.present.Class))
	values := make([]float64, len(m.runs))
	for k := range m.proportions {
		for i, r := range m.runs {
			values[i] = r.proportions[k]
		}
		m.proportions[k] = dense.Median(values)
	}
	dense.Normalize(m.proportions)
	for i, r := range m.runs {
		if dense.L1(r.proportions, m.proportions) < dense.L1(m.runs[m.best].proportions, m.proportions) {
			m.best = i
		}
	}
}

// finish goes through the rows once more for their responsibilities.
func (m *MTE) finish(ctx context.Context) (err error) {
	if m.Estimate, err = m.estimate(ctx, m.runs[m.best], m.proportions); err != nil {
		return err
	}
	for i, d := range m.displacements {
		m.Starts = append(m.Starts, Start{Name: d.name, Proportions: m.present.All(m.runs[i].proportions)})
	}
	m.Warnings = append(m.present.Warnings(), m.Warnings...)
	return nil
}

// estimate is what one run has found, with its own proportions of the present
// classes or others.
func (m *MTE) estimate(ctx context.Context, r *em, proportions []float64) (Estimate, error) {
	responsibilities := dense.New(m.target.Rows, len(proportions))
	step := newEStep(m.target, r.density, 1, len(proportions), false)
	if err := step.responsibilities(ctx, responsibilities, r.before); err != nil {
		return Estimate{}, err
	}
	return Estimate{
		Proportions: m.present.All(proportions), Responsibilities: m.present.AllRows(responsibilities),
		Iterations: r.steps, Converged: r.steps < m.options.Steps,
	}, nil
}

const (
	// adaptShrinkage and adaptCovariance are κ of Adapted, and the share of n_T
	// that the source's covariance counts for.
	adaptShrinkage  = 0.05
	adaptCovariance = 0.2
	adaptStart      = "ward"
)

// Adapted estimates p_T again by EM with Gaussians whose covariances adapt to
// the target, each class its own: another way for classes to move.
func (m *MTE) Adapted(ctx context.Context) (Estimate, error) {
	start := m.displacements[0]
	for _, d := range m.displacements {
		if d.name == adaptStart {
			start = d
		}
	}
	runs, err := m.run(ctx, movement{shrinkage: adaptShrinkage, adapt: adaptCovariance}, []displacement{start})
	if err != nil {
		return Estimate{}, err
	}
	return m.estimate(ctx, runs[0], runs[0].proportions)
}

// SourceRows returns the standardised source rows, or their principal
// components if there are more than 50 columns (n_S×q), and the class of each
// among the classes that have source rows.
func (m *MTE) SourceRows() (blas32.General, []int32) {
	return m.wide.Apply(m.problem.Source, nil), m.present.Labels
}

// TargetRows goes through the target's rows in the space of SourceRows.
func (m *MTE) TargetRows(yield func(blas32.General, error) bool) {
	for x, err := range m.problem.Target {
		if err != nil {
			yield(x, fmt.Errorf("mte: reading the target: %w", err))
			return
		}
		for lo := 0; lo < x.Rows; lo += targetBlock {
			if !yield(m.wide.Apply(dense.Rows(x, lo, min(lo+targetBlock, x.Rows)), nil), nil) {
				return
			}
		}
	}
}

// targetBlock is how many target rows TargetRows gives at a time.
const targetBlock = 4096

// Present are the classes that have source rows.
func (m *MTE) Present() *classes.Present { return m.present }

// Problem is what was fitted.
func (m *MTE) Problem() Problem { return m.problem }

// Options are those of the fit, with the defaults filled in.
func (m *MTE) Options() Options { return m.options }

// sampleIndex returns at most limit of the numbers 0 to n−1, in order.
func sampleIndex(n, limit int, seed uint64) []int {
	return dense.Sample(n, limit, func() *rand.Rand { return rand.New(rand.NewPCG(seed, streamSample)) })
}

// Streams of random numbers of one seed.
const (
	streamSample = iota
	streamReplicates
)
