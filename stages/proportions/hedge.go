package proportions

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/models"
	"mars.dev/mars/stages/internal/stream"
)

// answerHedge answers under several assumptions.
func answerHedge(ctx context.Context, r *stream.Rows, classes []string, o Options) (*Report, error) {
	m, err := models.FitHedge(ctx, r, r.Vectors(), classes, hedge.Options{Assume: o.Assume, Classifiers: o.Classifiers,
		KeepAll: o.rows != nil && o.Assume == nil, Seed: r.Seed, Interval: &hedge.IntervalOptions{Level: o.Level, Replicates: o.Bootstrap}})
	if err != nil {
		return nil, err
	}
	report := newHedgeReport(m.Model, m.Source, m.TargetRows)
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
	spool, err := arrowio.NewSpool(in, arrowio.SpoolOptions{Memory: env.Memory})
	if err != nil {
		return nil, err
	}
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
	report := newHedgeReport(m, m.Shares(), evidence.Rows)
	report.evidence = evidence
	report.heedLabels(rows, o.Simultaneous)
	return report, nil
}

// newHedgeReport is the report of a model, of so many rows.
func newHedgeReport(m *hedge.Model, source []float64, rows int) *Report {
	said := diagnostics.OfHedge(m)
	report := &Report{Classes: m.Classes, Method: hedge.Method, TargetRows: rows, model: m, Estimators: said.Estimators, ExpectedError: m.Evidence.ExpectedError,
		Interval: Interval{Level: m.Interval.Level, Lower: m.Interval.Lower, Upper: m.Interval.Upper},
		Warnings: append([]string{}, said.Hedge.Words...), Diagnostics: &Diagnostics{Hedge: said.Hedge}}
	report.Proportions.Source, report.Proportions.Estimated = source, m.Proportions
	if said.Hedge.Stayed() {
		why := "the source's classes explain the target where they are"
		if said.Hedge.Chosen() {
			why = "the target's rows seem to have been chosen by their columns"
		}
		report.believe(fmt.Sprintf("%s, and the classifiers' estimates differ by %s", why, ofHundred(m.Evidence.Members)))
		return report
	}
	report.believe(fmt.Sprintf("what the assumptions about the change give differs by %s, and %.0f %% of the source's labels come back when they are guessed from the target's",
		ofHundred(m.Evidence.Spread), 100*(1-m.Evidence.Failure)))
	return report
}

// writeViews writes what was assumed, and what each assumption alone would say.
func (r *Report) writeViews(w io.Writer) error {
	h := r.Diagnostics.Hedge
	if n := h.Noisy(); n != "" {
		fmt.Fprintf(w, "\n%s.\n", n)
	}
	if h.Stayed() {
		fmt.Fprintf(w, "\nThe source's classes explain the target where they are, when only their proportions change: weight %.2f.\n", h.Stays.Trust)
		fmt.Fprintf(w, "%.2f remains for the assumptions below by the labels that come back.\n", 1-h.Stays.Trust)
	}
	if held := h.Held(); held != "" {
		fmt.Fprintf(w, "\n%s.\n", held)
	}
	fmt.Fprintln(w, "\nThe estimate is the mean of what these assumptions give. The more of the source's labels come back")
	fmt.Fprintln(w, "when they are guessed from the target's labels by an assumption, the larger is its weight:")
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	r.writeHeader(tw, "assumption\tname\tweight\tback\t")
	for _, v := range h.ByWeight() {
		writeRow(tw, fmt.Sprintf("%s\t%s\t%.2f\t%.0f %%\t", diagnostics.Assumption(v.Name), v.Name, v.Weight, 100*v.Circle), v.Proportions)
	}
	return tw.Flush()
}
