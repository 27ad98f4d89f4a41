package proportions

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/levels"
	"mars.dev/mars/stages/internal/models"
	"mars.dev/mars/stages/internal/stream"
)

// answerHedge answers under several assumptions.
func answerHedge(ctx context.Context, r *stream.Rows, classes []string, o Options) (*Report, error) {
	m, err := models.FitHedge(ctx, r, r.Vectors(), classes, hedge.Options{Assume: o.Assume, Classifiers: o.Classifiers, Field: o.Field,
		KeepAll: o.rows != nil && o.Assume == nil, Seed: r.Seed, Interval: &hedge.IntervalOptions{Level: o.Level, Replicates: o.Bootstrap}})
	if err != nil {
		return nil, err
	}
	report := newHedgeReport(m.Model, m.Source, m.TargetRows, m.Said.Doubts)
	report.Diagnostics.Weights = m.Said.Weights
	if o.rows == nil {
		return report, nil
	}
	if err := r.Rewind(); err != nil {
		return nil, err
	}
	report.evidence, err = o.rows.OfModel(ctx, r, m.Model, r.Vectors())
	return report, err
}

// OfModel answers by the labels of some rows of a target, whose rows in is, and a model of the method
// hedge in a file.
func OfModel(ctx context.Context, env stages.Env, in arrowio.Stream, path string, o Options) (*Report, error) {
	m, _, err := models.LoadHedge(path)
	if err != nil {
		return nil, err
	}
	r := &stream.Rows{Env: env, Stream: in}
	column := models.Input(env, m.Vectors)
	if err := r.Require("begin with mars-featurize", column); err != nil {
		return nil, err
	}
	if err := models.CheckPreparation(r, m.Preparation); err != nil {
		return nil, err
	}
	spool := arrowio.NewSpool(in, env.Memory)
	defer spool.Close()
	r.Stream = spool
	rows, err := o.Labels.Find(ctx, r, m.Classes, column)
	if err != nil {
		return nil, err
	}
	evidence, err := rows.OfModel(ctx, r, m, column)
	if err != nil {
		return nil, err
	}
	nothing := make([]float64, len(m.Classes))
	m.Interval = &hedge.Interval{Level: o.Level, Lower: nothing, Upper: slices.Repeat([]float64{1}, len(nothing))} // what the labels replace
	report := newHedgeReport(m, m.Shares(), rows.Total, nil)
	report.evidence = evidence
	report.heedLabels(rows, o.Simultaneous)
	return report.fillLevels(), nil
}

// newHedgeReport is the report of a model, of so many rows, against which something was said before.
func newHedgeReport(m *hedge.Model, source []float64, rows int, doubts []string) *Report {
	said := diagnostics.OfHedge(m)
	report := &Report{Classes: m.Classes, Method: hedge.Method, TargetRows: rows, model: m, Estimators: said.Estimators, ExpectedError: m.Evidence.ExpectedError,
		Interval: Interval{Level: m.Interval.Level, Lower: m.Interval.Lower, Upper: m.Interval.Upper},
		tree:     levels.Of(m.Levels, m.Classes), doubts: doubts, Warnings: append(append([]string{}, doubts...), said.Hedge.Words...), Diagnostics: &Diagnostics{Hedge: said.Hedge}}
	report.Proportions.Source, report.Proportions.Estimated = source, m.Proportions
	for _, v := range m.GroupsAt(m.Interval.Level) {
		report.bounds = append(report.bounds, levelBounds{Lower: v.Lower, Upper: v.Upper})
	}
	grounds := differ(m.Evidence)
	if experience := said.Hedge.Experience(); experience != "" {
		grounds = experience + ". Besides, " + grounds
	}
	report.believe(grounds)
	return report
}

// differ says what the expected error comes from.
func differ(e hedge.Evidence) string {
	return fmt.Sprintf("what the assumptions about the change give differs by %s, what the classifiers give by %s, and a row's class is in doubt by %.0f %% in the mean",
		diagnostics.OfHundred(e.Spread), diagnostics.OfHundred(e.Members), 100*e.Doubt)
}

// writeViews writes what was assumed, and what each assumption alone would say.
func (r *Report) writeViews(w *bytes.Buffer) {
	h := r.Diagnostics.Hedge
	if n := h.Noisy(); n != "" {
		fmt.Fprintf(w, "\n%s.\n", n)
	}
	if because := h.Because(); because != "" {
		fmt.Fprintf(w, "\n%s.\n", because)
	}
	fmt.Fprintln(w, "\nThe estimate is the weighted mean of what these assumptions give. \"apart\" is how well the target's rows are\n"+
		"told from those that an assumption expects, from 0 % (not at all) to 100 %: the main sign of its weight\n(docs/default-rules.md).")
	var all []opinion
	for _, v := range h.ByWeight() {
		all = append(all, opinion{fmt.Sprintf("%s\t%s\t%.2f\t%.0f %%\t", diagnostics.Assumption(v.Name), v.Name, v.Weight, 100*diagnostics.Apart(v)), v.Name, v.Proportions})
	}
	r.writeAll(w, "assumption\tname\tweight\tapart\t", all)
	h.WriteBatches(w)
}
