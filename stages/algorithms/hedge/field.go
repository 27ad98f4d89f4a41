package hedge

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages/algorithms/gate"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
	"mars.dev/mars/stages/algorithms/labelshift"
)

// Labelled batches say how things change from batch to batch in their field. Each is left out in turn and answered from
// the others as if it were a target. Its labels tell what was right, and from that the gate learns what is right in
// this field: see gate.Gate.In.

// Left is what came of a labelled batch that was left out and answered from the others.
type Left struct {
	Batch       string    `json:"batch"`
	Rows        int       `json:"rows"`
	Proportions []float64 `json:"proportions"` // the true ones (C)
	// L1 is the error of the estimated proportions, 0 to 2, and ExpectedError what it was said to be;
	// Accuracy the share of labels that are right, and ExpectedAccuracy what was said.
	L1               float64 `json:"l1"`
	ExpectedError    float64 `json:"expected_error"`
	Accuracy         float64 `json:"accuracy"`
	ExpectedAccuracy float64 `json:"expected_accuracy"`
	// Best is the assumption that came nearest to the truth.
	Best string `json:"best"`
}

const (
	FewestBatches = 3  // that a field can be learnt from: with two, nothing but one batch would be left to answer the other
	mostLeft      = 10 // batches are left out
	LeftRows      = 30 // of a batch that is left out, at least
	// What a fit of the others looks at, in all, and of the batch that is left out: enough to see what is right, in
	// the time that a table of this size takes.
	fieldRows, targetRows = 3_000, 1_000
)

// A Field is what the batches of a source say. The zero value has learnt nothing yet.
type Field struct {
	gate   *gate.Gate
	left   []Left
	source uint64 // a hash of its rows as they were prepared
}

// learn leaves labelled batches out and learns from them, unless it has done so for the same rows. Where there are too few, the
// gate is the default one.
func (f *Field) learn(ctx context.Context, p Problem, o Options, step func()) error {
	if p.BatchNames == nil {
		f.gate = gate.Default()
		return nil
	}
	source := mixed(o.Seed)
	for _, v := range p.Source.Data {
		source = mixed(source ^ uint64(math.Float32bits(v)))
	}
	if f.gate != nil && f.source == source {
		return nil
	}
	f.gate, f.left, f.source = gate.Default(), nil, source
	rows := batchRows(p, o.Seed)
	leave := leftOut(rows)
	tasks, models, left := make([]*gate.Task, len(leave)), make([]*Model, len(leave)), make([]Left, len(leave))
	err := kernel.Each(len(leave), func(i int) (err error) {
		defer step()
		tasks[i], models[i], left[i], err = leaveOut(ctx, p, o, rows, leave[i])
		return err
	})
	if err != nil {
		return err
	}
	var seen []gate.Task
	var by []*Model
	for i, t := range tasks {
		if t != nil {
			seen, by, f.left = append(seen, *t), append(by, models[i]), append(f.left, left[i])
		}
	}
	g, hindsight, err := f.gate.In(seen, func(i int, weights []float64, l1, wrong float64) (float64, float64) {
		return by[i].weighed(weights).told(l1, wrong)
	})
	if err != nil {
		return err
	}
	f.gate = g
	for i, h := range hindsight {
		l := &f.left[i]
		l.L1, l.ExpectedError, l.Accuracy, l.ExpectedAccuracy = h.L1, h.ExpectedL1, 1-h.Wrong, 1-h.ExpectedWrong
		l.Best = seen[i].Views[h.Best].Name
	}
	return nil
}

// A batch is the rows of one, in an order that does not depend on that in which they came.
type batch struct {
	name string
	rows []int
}

// batchRows are the rows of each batch, by their names.
func batchRows(p Problem, seed uint64) []batch {
	all := make([]batch, len(p.BatchNames))
	for i, name := range p.BatchNames {
		all[i].name = name
	}
	for _, i := range rowOrder(p.Source, columnOrder(p.Columns, p.Source.Cols), p.Labels, seed) {
		b := &all[p.Batches[i]]
		b.rows = append(b.rows, i)
	}
	slices.SortFunc(all, func(a, b batch) int { return compareNames(a.name, b.name) })
	return all
}

// leftOut are the batches to leave out: all that have rows enough, or so many of them, evenly spread by their names.
func leftOut(all []batch) []int {
	var enough []int
	for i, b := range all {
		if len(b.rows) >= LeftRows {
			enough = append(enough, i)
		}
	}
	if len(enough) < FewestBatches {
		return nil
	}
	n := min(len(enough), mostLeft)
	some := make([]int, n)
	for i := range some {
		some[i] = enough[i*(len(enough)-1)/(n-1)]
	}
	return some
}

// leaveOut answers batch b from the others, and says what is true and by which model. The task is nil if nothing can be learnt
// from the others, as where they have but one class.
func leaveOut(ctx context.Context, p Problem, o Options, all []batch, b int) (*gate.Task, *Model, Left, error) {
	var source []int
	var batches []int32
	for i, other := range all {
		if i != b {
			some := other.rows[:min(len(other.rows), max(1, fieldRows/(len(all)-1)))]
			source, batches = append(source, some...), append(batches, slices.Repeat([]int32{int32(i)}, len(some))...)
		}
	}
	target := all[b].rows[:min(len(all[b].rows), targetRows)]
	sub := Problem{Source: dense.Gather(p.Source, source), Labels: dense.Pick(p.Labels, source), Target: dense.Gather(p.Source, target),
		Classes: p.Classes, Columns: p.Columns, Batches: batches}
	truth := dense.Pick(p.Labels, target)
	left := Left{Batch: all[b].name, Rows: len(all[b].rows)}
	var err error
	if left.Proportions, err = labelshift.Shares(dense.Pick(p.Labels, all[b].rows), len(p.Classes)); err != nil {
		return nil, nil, left, err
	}
	m, err := fitBy(ctx, sub, Options{Classifiers: o.Classifiers, KeepAll: true, Seed: o.Seed}, gate.Default(), func() {})
	if err != nil {
		return nil, nil, left, ctx.Err()
	}
	t := &gate.Task{Name: all[b].name, Signs: m.Signs(), Sampling: make([]float64, len(p.Classes))}
	if t.Truth, err = labelshift.Shares(truth, len(p.Classes)); err != nil {
		return nil, nil, left, err
	}
	posteriors, err := m.Posteriors(ctx, m.Prepare(sub.Target))
	if err != nil {
		return nil, nil, left, err
	}
	for _, q := range posteriors {
		t.Wrong = append(t.Wrong, wrong(q, truth))
	}
	return t, m, left, nil
}

// wrong is the share of rows whose greatest posterior is of another class.
func wrong(posteriors blas32.General, truth []int32) float64 {
	sum := 0
	for i, y := range dense.ArgmaxRows(posteriors) {
		if y != truth[i] {
			sum++
		}
	}
	return float64(sum) / float64(len(truth))
}

// Beyond how many standard deviations a batch's labels are told from chance, and how much better others are.
const (
	guessDeviations = 2
	muchBetter      = 0.2
)

// warnMislabelled names the batches whose labels come out of the others no more often than by chance, where those of most
// batches do.
func (m *Model) warnMislabelled() {
	var all []float64
	for _, l := range m.Left {
		all = append(all, l.Accuracy)
	}
	if len(all) < FewestBatches {
		return
	}
	usual := dense.Median(slices.Clone(all))
	var names []string
	for _, l := range m.Left {
		// A guess at the most frequent class of the batch is right as often as that.
		chance := slices.Max(l.Proportions)
		n := float64(min(l.Rows, targetRows))
		if l.Accuracy < min(chance+guessDeviations*math.Sqrt(chance*(1-chance)/n), usual-muchBetter) {
			names = append(names, fmt.Sprintf("%s (%.0f %%)", l.Batch, 100*l.Accuracy))
		}
	}
	if names != nil {
		m.Warnings = append(m.Warnings, fmt.Sprintf("the labels of %s come out of the other batches no more often than by chance, where of half of the batches %.0f %% or more do: look whether they are right, and mend them or leave the batch out",
			spelling.List(names), 100*usual))
	}
}
