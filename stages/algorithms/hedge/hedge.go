package hedge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/ensemble"
	"mars.dev/mars/stages/algorithms/gate"
	"mars.dev/mars/stages/algorithms/internal/classes"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/prepare"
)

// Options of a fit. The zero value is usable.
type Options struct {
	// Assume names the views that may have weight, some of Views; nil means all.
	Assume []string
	// Classifiers are the members of the ensemble, some of ensemble.Names; nil
	// means the usual ones.
	Classifiers []string
	// Interval is that of the proportions; nil makes none.
	Interval *IntervalOptions
	// Sampled keeps what a model's file needs to make an interval later: Model.Sampling.
	Sampled bool
	// KeepAll keeps what labels rows under each view, also of views without weight: labels of
	// some target rows may give them some (see Reweighed).
	KeepAll bool
	// Groups are coarser classes, level by level: of each class the number of the one of which it is a
	// part. Their shares are sums, whose intervals are those of sums: GroupsAt.
	Groups [][]int
	// Seed draws samples, folds, landmarks, initial weights and replicates.
	Seed uint64
	// Field keeps what the source's batches say, for fits of other targets to the same source; nil keeps nothing.
	Field *Field
	// Progress is told how many steps of the fit are done; nil is not.
	Progress func(done, total int)
}

// MaxRows is how many rows of each domain a fit looks at. Of more it draws a sample;
// in that of the source each class keeps its share, but at least minClassRows rows, or its part of
// MaxRows if that is less.
const (
	MaxRows      = 20_000
	minClassRows = 100
	// manyClasses are so many that sums over all of them give way to sums over those that count.
	manyClasses = 64
)

// A Problem is a source and a target.
type Problem struct {
	Source  blas32.General // n_S×d
	Labels  []int32        // n_S, indices of Classes
	Target  blas32.General // n_T×d
	Classes []string       // names
	// Columns are the names of the columns (d); nil where nobody knows them.
	Columns []string
	// Batches says which batch each source row is of, from 0: a person, a day, a laboratory. Classifiers
	// are judged on batches that they have not seen, and three batches or more say what is right in their field (see
	// Left). nil: nobody says. BatchNames are their names.
	Batches    []int32
	BatchNames []string
	// Missing is the share of the target's rows, 0 to 1, that have no value at all, and are not
	// in Target.
	Missing float64
}

// A Model labels rows. Its methods do not change it.
type Model struct {
	Classes []string // names, in the order of the posteriors' columns
	Views   []View
	// Proportions is p_T, the weighted mean of the views': C values that sum to 1.
	Proportions []float64
	// Problem is what is seen of the source and the target, by which the views are weighed.
	Problem gate.Problem
	// Noise is what the source was given because the target has it; nil if there is none.
	Noise *Noise
	// Interval is around Proportions; nil unless asked for.
	Interval *Interval
	Evidence Evidence
	// Left are labelled batches that were left out; nil where nobody says which rows are of one.
	Left []Left
	// Warnings are doubts in words.
	Warnings []string

	adapt.Use
	// SourceShares are the classes' shares of all rows of the source, of which the fit may
	// have seen a sample; nil where nobody says.
	SourceShares []float64
	// Sampling is what of the variance of each share is that of the target's rows at hand (C), Rows how
	// many the target has, and Doubts what was said against them: what mars proportions --model needs
	// beside the rest. Sampling is nil unless it, or an interval, was asked for.
	Sampling []float64
	// Groups are those of the options, and GroupSampling what Sampling is, of their sums.
	Groups        [][]int
	GroupSampling [][]float64
	Rows          int
	Doubts        []string
	// Seed is that of the fit.
	Seed uint64

	gate        *gate.Gate  // that weighed the views; nil of a file
	disagree    [][]float64 // of the views' labels of the target; not kept in files
	prior       []float64   // p_S, which the classifiers' posteriors carry
	mapping     *prepare.Map
	classifiers []*ensemble.Model
	typicality  []*typicality // by classifier; nil without typicalWeight
}

// fit is a model in the making.
type fit struct {
	Options
	classes        int
	names          []string // of the classes
	mapping        *prepare.Map
	source, target blas32.General // prepared, at most MaxRows
	labels         []int32
	prior          []float64
	batches        []int32 // of the distinct rows, see Problem.Batches
	distinct       int     // source rows; those after them are copies of them, with other noise
	crowded, thin  bool    // see ensemble.Crowded and ensemble.Thin
	nearness       *nearness
	stays          tested
	heard          *Noise // that the source was given; nil if none
	tuned          *ensemble.Tuned
	warnings       []string
	columns        []int   // of the problem, in the order of their names
	unknown        float64 // Evidence.Unknown
}

func (f *fit) warn(format string, values ...any) {
	f.warnings = append(f.warnings, fmt.Sprintf(format, values...))
}

// steps is how many a fit has.
const steps = 6

// Fit makes all views and weights them. A class without source rows has the
// proportion 0 and a warning. It fails if a value is not finite, if fewer than two
// classes have rows, if all source rows are equal, and if there are no target rows.
// It returns ctx.Err() if ctx ends, and panics if there is not one label a source
// row or if the widths differ.
func Fit(ctx context.Context, p Problem, o Options) (*Model, error) {
	if err := check(p, o); err != nil {
		return nil, err
	}
	done, total := -1, steps
	if p.BatchNames != nil {
		total += min(mostLeft, len(p.BatchNames))
	}
	var mutex sync.Mutex
	step := func() {
		mutex.Lock()
		defer mutex.Unlock()
		if done++; o.Progress != nil {
			o.Progress(done, total)
		}
	}
	field := cmp.Or(o.Field, &Field{})
	if err := field.learn(ctx, p, o, step); err != nil {
		return nil, err
	}
	total = done + 1 + steps // fewer batches than there are may have been left out
	m, err := fitBy(ctx, p, o, field.gate, step)
	if err != nil {
		return nil, err
	}
	m.Left = field.left
	m.warnMislabelled()
	return m, nil
}

// fitBy fits a model whose views are weighed by a gate.
func fitBy(ctx context.Context, p Problem, o Options, g *gate.Gate, step func()) (*Model, error) {
	step()
	f, err := begin(ctx, p, o)
	if err != nil {
		return nil, err
	}
	step()
	learners, err := f.learn(ctx)
	if err != nil {
		return nil, err
	}
	step()
	m := &Model{Classes: p.Classes, Seed: o.Seed, gate: g, prior: f.prior, mapping: f.inPlace(f.mapping)}
	m.Evidence.Missing, m.Evidence.Unknown = p.Missing, f.unknown
	var posteriors []blas32.General
	if m.Views, posteriors, err = f.see(ctx, learners); err != nil {
		return nil, err
	}
	step()
	if err := m.weigh(ctx, f, learners, posteriors); err != nil {
		return nil, err
	}
	step()
	mean := m.judge(f, posteriors)
	if err := m.keep(ctx, f, learners); err != nil {
		return nil, err
	}
	m.Evidence.Untypical = m.untypical(f.target, mean)
	m.expect()
	if o.Interval != nil || o.Sampled {
		var interval IntervalOptions
		if o.Interval != nil {
			interval = *o.Interval
		}
		m.Groups = o.Groups
		if m.Sampling, m.GroupSampling, err = m.sample(ctx, f, posteriors, interval); err != nil {
			return nil, err
		}
		if o.Interval != nil {
			m.Interval = m.IntervalAt(cmp.Or(interval.Level, defaultLevel))
		}
	}
	step()
	m.Warnings = f.warnings
	step()
	return m, nil
}

// learn trains a classifier on the source's rows after each movement.
func (f *fit) learn(ctx context.Context) ([]*learner, error) {
	learners, err := f.moved(ctx)
	if err != nil {
		return nil, err
	}
	return learners, kernel.Each(len(learners), func(i int) error {
		if learners[i] == nil {
			return nil
		}
		return f.train(ctx, learners[i], i > 0) // the first learns where the rows are
	})
}

// keep takes from the learners what labels rows.
func (m *Model) keep(ctx context.Context, f *fit, learners []*learner) error {
	m.classifiers, m.typicality = make([]*ensemble.Model, len(learners)), make([]*typicality, len(learners))
	return kernel.Each(len(learners), func(c int) (err error) {
		all := f.KeepAll && learners[c] != nil
		if all || m.classifierWeight(c) >= minWeight {
			m.classifiers[c] = learners[c].model
		}
		if all || m.typicalWeight(c) > 0 {
			m.typicality[c], err = f.learnTypicality(ctx, learners[c].rows)
		}
		return err
	})
}

// check finds what no fit can be made of.
func check(p Problem, o Options) error {
	if len(p.Labels) != p.Source.Rows || p.Source.Cols != p.Target.Cols {
		panic("hedge: one label a source row and rows of one width are needed")
	}
	if _, err := classes.NewPresent(p.Labels, len(p.Classes)); err != nil {
		return fmt.Errorf("hedge: %w", err)
	}
	if p.Target.Rows == 0 {
		return errors.New("hedge: there are no target rows: give unlabelled rows")
	}
	if err := cmp.Or(dense.CheckFinite("source", p.Source, 0), dense.CheckFinite("target", p.Target, 0)); err != nil {
		return fmt.Errorf("hedge: %w", err)
	}
	return checkViews(o.Assume)
}

// begin prepares a problem's rows and tunes the classifiers.
func begin(ctx context.Context, p Problem, o Options) (*fit, error) {
	present, err := classes.NewPresent(p.Labels, len(p.Classes))
	if err != nil {
		return nil, fmt.Errorf("hedge: %w", err)
	}
	f := &fit{Options: o, classes: len(p.Classes), names: p.Classes, warnings: present.Warnings()}
	f.columns = columnOrder(p.Columns, p.Source.Cols)
	index := sourceSample(p, f.columns, o.Seed)
	source := dense.Gather(p.Source, index)
	f.labels = dense.Pick(p.Labels, index)
	if p.Batches != nil {
		f.batches = dense.Pick(p.Batches, index)
	}
	index = rowOrder(p.Target, f.columns, nil, o.Seed)
	target := dense.Gather(p.Target, index[:min(len(index), MaxRows)])
	if p.Columns != nil {
		source, target = columnsOf(source, f.columns), columnsOf(target, f.columns)
	}
	if f.prior, err = labelshift.Shares(f.labels, f.classes); err != nil {
		return nil, err
	}
	f.warnUnstudied(target.Rows)
	f.compareUnits(source, target, p.Columns)
	f.distinct = source.Rows
	f.crowded, f.thin = ensemble.Crowded(f.distinct, len(f.present())), ensemble.Thin(f.distinct, len(f.present()))
	if err := f.checkPairs(); err != nil {
		return nil, err
	}
	if err := f.prepare(ctx, source, target); err != nil {
		return nil, err
	}
	if f.heard, err = f.listen(ctx, source, target); err != nil {
		return nil, err
	}
	if f.heard != nil {
		if err := f.prepare(ctx, f.repeat(source), target); err != nil {
			return nil, err
		}
	}
	f.tuned, err = ensemble.Tune(ctx, f.source, f.labels, f.classes, ensemble.Options{Members: o.Classifiers, Distinct: f.distinct, Groups: f.batches, Unlabelled: f.target, Seed: o.Seed})
	return f, err
}

// The least numbers of rows that the constants of this package were chosen on.
const (
	fewRows        = 100 // of the target
	fewRowsOfClass = 10  // of the source
)

// warnUnstudied warns of problems smaller than those studied.
func (f *fit) warnUnstudied(targetRows int) {
	if targetRows < fewRows {
		f.warn("there are only %d target rows: below %d nobody has studied how right the answer is", targetRows, fewRows)
	}
	var few []string
	rows := make(map[string]int)
	for k, share := range f.prior {
		if n := int(share*float64(len(f.labels)) + 0.5); n > 0 && n < fewRowsOfClass {
			few, rows[f.names[k]] = append(few, f.names[k]), n
		}
	}
	if len(few) <= spelling.MaxNamed {
		for _, name := range few {
			f.warn("class %s has few source rows (%d): little is known of it", name, rows[name])
		}
		return
	}
	slices.SortStableFunc(few, func(a, b string) int { return cmp.Compare(rows[a], rows[b]) })
	f.warn("%d classes have few source rows (from %d to %d): little is known of %s", len(few), rows[few[0]], rows[few[len(few)-1]], spelling.List(few))
}

func checkViews(names []string) error {
	for _, name := range names {
		if !slices.Contains(Views, name) {
			return fmt.Errorf("hedge: there is no view %q: choose of %v", name, Views)
		}
	}
	return nil
}

// sourceSample returns the rows to train on, in their own order.
func sourceSample(p Problem, columns []int, seed uint64) []int {
	order := rowOrder(p.Source, columns, p.Labels, seed)
	if len(order) <= MaxRows {
		return order
	}
	least := min(minClassRows, max(1, MaxRows/len(p.Classes)))
	left := make([]int, len(p.Classes)) // rows of each class to take
	for _, y := range p.Labels {
		left[y]++
	}
	for k, n := range left {
		left[k] = max(n*MaxRows/len(order), least)
	}
	return slices.DeleteFunc(order, func(i int) bool {
		left[p.Labels[i]]--
		return left[p.Labels[i]] < 0
	})
}

// inPlace returns the map of the problem's columns in the order in which they came.
func (f *fit) inPlace(p *prepare.Map) *prepare.Map {
	own := *p
	own.Kept = dense.Pick(f.columns, p.Kept)
	return &own
}

// Streams of random numbers.
const (
	streamArea = iota + 102
	streamNovelty
	streamReplicates // and those after it, one a replicate
)

const (
	streamFrequencies = 1_000_000
	streamNoise       = 1_000_001
	streamRival       = 1_000_002
	streamStays       = 2_000_000 // and those after it, one a replicate
)

func (f *fit) random(stream uint64) func() *rand.Rand {
	return func() *rand.Rand { return rand.New(rand.NewPCG(f.Seed, stream)) }
}

// present returns the classes that have source rows.
func (f *fit) present() []int {
	var with []int
	for k, share := range f.prior {
		if share > 0 {
			with = append(with, k)
		}
	}
	return with
}
