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
	"math"

	"github.com/apache/arrow/go/v15/arrow"

	"mars/arrowio"
	"mars/stages"
	"mars/stages/internal/rows"
	"mars/stages/reweight/labelshift"
	"mars/stages/train/adapt/retrain"
)

// Options of an estimate.
type Options struct {
	Level     float64 // of the intervals, between 0 and 1; 0 means 0.9
	Bootstrap int     // replicates; 0 means 200
	Truth     bool    // compare with the column truth
}

// Estimate reads all of in and estimates its proportions by MTE, with the
// panel's opinions around it.
func Estimate(ctx context.Context, env stages.Env, in arrowio.Source, o Options) (*Report, error) {
	c := env.Columns
	if err := rows.Require(in, "begin with mars-featurize", rows.Vectors(in, env), c.Domain, c.Label); err != nil {
		return nil, err
	}
	if o.Truth {
		if err := rows.Require(in, "ask for it with mars-featurize --truth", c.Truth); err != nil {
			return nil, err
		}
	}
	spool, err := arrowio.NewSpool(in, arrowio.SpoolOptions{Memory: env.Memory})
	if err != nil {
		return nil, err
	}
	defer spool.Close()
	classes, err := rows.Classes(ctx, spool, env)
	if err != nil {
		return nil, err
	}
	r, err := report(ctx, env, spool, classes, o)
	if err != nil || !o.Truth {
		return r, err
	}
	return r, r.check(ctx, env, spool)
}

// report gathers the rows and answers.
func report(ctx context.Context, env stages.Env, in *arrowio.Spool, classes []string, o Options) (*Report, error) {
	column := rows.Vectors(in, env)
	s, err := rows.Gather(ctx, env, in, classes, rows.Want{Vector: column, Source: true, Labels: true})
	if err != nil {
		return nil, err
	}
	p := labelshift.Problem{Source: s.Source, Labels: s.Labels, Classes: len(classes), Names: classes,
		Target: rows.TargetBlocks(ctx, env, in, column)}
	r, err := answer(ctx, env, p, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.Name(), err)
	}
	return r, nil
}

// answer asks the panel and the other estimators.
func answer(ctx context.Context, env stages.Env, p labelshift.Problem, o Options) (*Report, error) {
	train := retrain.Classifier(ctx, env.Seed, env.Jobs)
	panel, err := labelshift.Consult(p, train, labelshift.MTEOptions{Seed: env.Seed})
	if err != nil {
		return nil, err
	}
	interval, err := panel.Interval(labelshift.IntervalOptions{Level: o.Level, Replicates: o.Bootstrap, Seed: env.Seed})
	if err != nil {
		return nil, err
	}
	r := newReport(p.Names, rows.Shares(rows.Counts(p.Labels, p.Classes)), panel, interval)
	others, diagnostics, err := others(env, p, panel.Members[0], train)
	if err != nil {
		return nil, err
	}
	for name, opinion := range others {
		r.Estimators[name] = opinion
	}
	r.doubt(diagnostics)
	return r, nil
}

// check puts the true proportions beside the estimate.
func (r *Report) check(ctx context.Context, env stages.Env, in *arrowio.Spool) error {
	if err := in.Rewind(); err != nil {
		return err
	}
	truth, err := rows.TruthShares(ctx, env, in, r.Classes)
	if err != nil {
		return err
	}
	l1 := 0.0
	for k, p := range truth {
		l1 += math.Abs(p - r.Proportions.Estimated[k])
	}
	r.Proportions.True, r.L1 = truth, &l1
	return nil
}

// Write sends the report to out as rows, one a class: its name, the shares of
// source and target, the bounds of the interval, the true share where it is known, and
// a column a further estimator. The report's JSON is the metadata key
// mars.diagnostics.
func (r *Report) Write(env stages.Env, out arrowio.Sink) error {
	names, columns := []string{"source", "estimated", "lower", "upper"},
		[][]float64{r.Proportions.Source, r.Proportions.Estimated, r.Interval.Lower, r.Interval.Upper}
	if r.Proportions.True != nil {
		names, columns = append(names, "true"), append(columns, r.Proportions.True)
	}
	for _, name := range r.order() {
		names, columns = append(names, name), append(columns, r.Estimators[name])
	}
	fields := []arrow.Field{{Name: "class", Type: arrow.BinaryTypes.String}}
	arrays := []arrow.Array{arrowio.NewStringArray(r.Classes)}
	for i, values := range columns {
		fields = append(fields, arrow.Field{Name: names[i], Type: arrow.PrimitiveTypes.Float64})
		arrays = append(arrays, doubles(values))
	}
	return r.write(env, out, fields, arrays)
}
