// Package proportions answers what the class proportions of a stream's target
// rows are, how far off the answer may be and whether to believe it.
//
// Columns read: domain, label and embedding, features where there is none; with
// Options.Truth also truth, for checking alone. It adds no column: its answer is
// a Report, which can be written as a table, JSON or Arrow.
package proportions

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"gonum.org/v1/gonum/floats"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/mte"
	"mars.dev/mars/stages/algorithms/translate"
	"mars.dev/mars/stages/algorithms/unmix"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/labelled"
	"mars.dev/mars/stages/internal/levels"
	"mars.dev/mars/stages/internal/stream"
	"mars.dev/mars/tables/write"
)

// Methods are the ways to estimate: hedge, under several assumptions; mte, by
// match–translate–EM with a panel of other estimators around it; unmix, for rows that are mixtures
// of classes; auto, which is mte for images (on their embedding) and hedge for all others.
var Methods = []string{"auto", hedge.Method, "mte", unmix.Method}

// Options of an estimate.
type Options struct {
	Method      string   // one of Methods; "" means auto
	Assume      []string // of the method hedge: see hedge.Options
	Classifiers []string
	Level       float64 // of the intervals, between 0 and 1; 0 means 0.9
	Bootstrap   int     // replicates; 0 means 200
	Truth       bool    // compare with the column truth
	// Labels are those that a person gave some target rows: the answer is by them. The zero value
	// is none.
	Labels Labels
	// Simultaneous makes intervals by the labels that hold for all classes at once.
	Simultaneous bool

	// Field keeps what labelled batches say for further targets of the same source; nil keeps nothing.
	Field *hedge.Field

	rows *labelled.Rows // of Labels; nil if there are none
	tree *levels.Tree   // of the classes; nil if there is one level
}

// Estimate reads all of in and estimates its proportions.
func Estimate(ctx context.Context, env stages.Env, in arrowio.Stream, o Options) (*Report, error) {
	r, c := &stream.Rows{Env: env, Stream: in}, env.Columns
	if err := r.Require("begin with mars-featurize", r.Vectors(), c.Domain, c.Label); err != nil {
		return nil, err
	}
	if o.Truth {
		if err := r.Require("ask for it with mars-featurize --truth", c.Truth); err != nil {
			return nil, err
		}
	}
	spool := arrowio.NewSpool(in, env.Memory)
	defer spool.Close()
	r.Stream = spool
	classes, err := r.Classes(ctx)
	if err != nil {
		return nil, err
	}
	report, err := newAnswer(ctx, r, classes, o)
	if err == nil && o.Truth {
		err = report.check(ctx, r)
	}
	if err != nil {
		return nil, err
	}
	return report.fillLevels(), nil
}

// newAnswer gathers the rows and answers.
func newAnswer(ctx context.Context, r *stream.Rows, classes []string, o Options) (*Report, error) {
	estimate := answerHedge
	switch {
	case o.Method == unmix.Method:
		estimate = answerUnmix
	case o.Method == "mte" || o.Method != hedge.Method && r.Images():
		estimate = answerMTE
	}
	var err error
	if o.tree, err = levels.OfSchema(r.Schema(), classes); err != nil {
		return nil, r.Fail("", err, "")
	}
	if o.Labels.Sheet != nil {
		if o.rows, err = o.Labels.Find(ctx, r, classes, r.Vectors()); err != nil {
			return nil, err
		}
	}
	report, err := estimate(ctx, r, classes, o)
	if err != nil {
		return nil, err
	}
	meta, err := r.Meta()
	report.steps = meta.Provenance
	if r.Vectors() == r.Columns.Embedding {
		report.heed(diagnostics.Read(meta).SelfTraining)
	}
	if o.rows != nil {
		report.heedLabels(o.rows, o.Simultaneous)
	}
	return report, err
}

// answerMTE answers by match–translate–EM.
func answerMTE(ctx context.Context, r *stream.Rows, classes []string, o Options) (*Report, error) {
	column := r.Vectors()
	s, err := r.Gather(ctx, classes, stream.Want{Vector: column, Source: true, Labels: true})
	if err != nil {
		return nil, err
	}
	p := mte.Problem{Source: s.Source, Labels: s.Labels, Classes: len(classes), Names: classes,
		Target: r.TargetBlocks(ctx, column)}
	report, err := answer(ctx, r.Env, p, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Name(), err)
	}
	report.TargetRows = s.TargetRows
	report.heedRows(s.MissingShare(), r.Doubts())
	return report, report.total(r, classes)
}

// total counts rows where those that were read are a sample of more, as a sketch has.
func (r *Report) total(rows *stream.Rows, classes []string) error {
	target, source, err := rows.Totals(classes)
	if err != nil {
		return err
	}
	if target > 0 {
		r.TargetRows = target
	}
	if source != nil {
		r.Proportions.Source = stream.Shares(source)
	}
	return nil
}

// answer asks the panel and the other estimators.
func answer(ctx context.Context, env stages.Env, p mte.Problem, o Options) (*Report, error) {
	train := translate.Classifier(env.Seed, env.Jobs)
	e, err := labelshift.Estimate(ctx, "auto", labelshift.Inputs{Problem: p, Train: train, Seed: env.Seed,
		Interval: labelshift.IntervalOptions{Level: o.Level, Replicates: o.Bootstrap, Groups: o.tree.Groups()}})
	if err != nil {
		return nil, err
	}
	r := newReport(p.Names, stream.Shares(stream.Counts(p.Labels, p.Classes)), e)
	r.tree = o.tree
	s, err := newSample(ctx, p)
	if err != nil {
		return nil, err
	}
	d := diagnose(ctx, env, s, e)
	if err := s.askOthers(ctx, env, train, r, d); err != nil {
		return nil, err
	}
	r.judge(d)
	if o.rows != nil {
		r.evidence = o.rows.OfPosteriors(r.Method, e.Responsibilities)
	}
	return r, nil
}

// check puts the true proportions beside the estimate.
func (r *Report) check(ctx context.Context, rows *stream.Rows) error {
	if err := rows.Rewind(); err != nil {
		return err
	}
	truth, err := rows.TruthShares(ctx, r.Classes)
	if err != nil {
		return err
	}
	l1 := floats.Distance(r.Proportions.Estimated, truth, 1)
	r.Proportions.True, r.L1, r.L1s = truth, &l1, map[string]float64{}
	for name, p := range r.Estimators {
		r.L1s[name] = floats.Distance(p, truth, 1)
	}
	r.L1s["source"] = floats.Distance(r.Proportions.Source, truth, 1)
	return nil
}

// Write sends the report to out as rows, one a class: its name, the shares of
// source and target, the bounds of the interval, the target rows that this makes, the true
// share where it is known, and a column a further estimator. The report's JSON is the
// metadata key mars.diagnostics.
func (r *Report) Write(env stages.Env, out arrowio.Sink) error {
	rec, err := r.rows(env)
	if err != nil {
		return err
	}
	defer rec.Release()
	return arrowio.WriteRecord(out, rec)
}

// Save writes the report to a file: as JSON whole, and in the other formats the rows of
// Write. It does not write Arrow.
func (r *Report) Save(ctx context.Context, env stages.Env, path string, f write.Format) error {
	return write.SaveReport(ctx, path, f, r.WriteJSON, func() (arrow.Record, error) { return r.rows(env) })
}

// rows is the batch of Write.
func (r *Report) rows(env stages.Env) (arrow.Record, error) {
	nodes := r.nodes()
	var t arrowio.Table
	var text [3][]string // class, level and parent
	for _, n := range nodes {
		text[0], text[1], text[2] = append(text[0], n.class), append(text[1], n.level), append(text[2], n.parent)
	}
	t.Add("class", arrowio.NewStringArray(text[0]))
	if r.Levels != nil {
		t.Add("level", arrowio.NewStringArray(text[1]))
		t.AddNullable("parent", arrowio.NewStringsOrNull(text[2]))
	}
	add := func(name string, of func(n node) []float64) {
		if of(nodes[0]) == nil {
			return
		}
		values := make([]float64, len(nodes))
		for i, n := range nodes {
			values[i] = of(n)[n.at]
		}
		t.Add(name, arrowio.NewDoubleArray(values))
	}
	add("source", func(n node) []float64 { return n.of.Source })
	add("target", func(n node) []float64 { return n.of.Estimated })
	add("lower", func(n node) []float64 { return n.of.Lower })
	add("upper", func(n node) []float64 { return n.of.Upper })
	add("rows", func(n node) []float64 { return n.of.Rows })
	add("holds_lower", func(n node) []float64 { return n.of.HoldsLower })
	add("holds_upper", func(n node) []float64 { return n.of.HoldsUpper })
	add("before", func(n node) []float64 { return n.of.Before })
	add("true", func(n node) []float64 { return n.of.True })
	for _, name := range r.order() {
		add(name, func(n node) []float64 {
			if r.Levels == nil {
				return r.Estimators[name]
			}
			return levels.Sums(r.tree.Levels[n.depth], r.Estimators[name])
		})
	}
	return r.record(env, &t)
}
