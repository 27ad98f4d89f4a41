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
	report := newHedgeReport(m, m.Shares(), rows.Total, nil)
	report.evidence = evidence
	report.heedLabels(rows, o.Simultaneous)
	return report, nil
}

// newHedgeReport is the report of a model, of so many rows, against which something was said before.
func newHedgeReport(m *hedge.Model, source []float64, rows int, doubts []string) *Report {
	said := diagnostics.OfHedge(m)
	report := &Report{Classes: m.Classes, Method: hedge.Method, TargetRows: rows, model: m, Estimators: said.Estimators, ExpectedError: m.Evidence.ExpectedError,
		Interval: Interval{Level: m.Interval.Level, Lower: m.Interval.Lower, Upper: m.Interval.Upper},
		doubts:   doubts, Warnings: append(append([]string{}, doubts...), said.Hedge.Words...), Diagnostics: &Diagnostics{Hedge: said.Hedge}}
	report.Proportions.Source, report.Proportions.Estimated = source, m.Proportions
	if said.Hedge.Stayed() {
		why := "the source's classes explain the target where they are"
		if said.Hedge.Chosen() {
			why = "the target's rows seem to have been chosen by their columns"
		}
		report.believe(why + ", and " + differ(m.Evidence))
		return report
	}
	report.believe(differ(m.Evidence))
	return report
}

// differ says what the expected error comes from.
func differ(e hedge.Evidence) string {
	return fmt.Sprintf("what the assumptions about the change give differs by %s, what the classifiers give by %s, and a row's class is in doubt by %.0f %% in the mean",
		diagnostics.OfHundred(e.Spread), diagnostics.OfHundred(e.Members), 100*e.Doubt)
}

// weighing says what the assumptions have weight for, besides what else was said.
func weighing(trust float64) string {
	const back = "\"back\" is how many of the source's labels come back when they are\nguessed from the target's labels by an assumption. It is one of the signs of its weight (docs/default-rules.md):"
	switch {
	case trust == 1:
		return "The test alone weighs them:"
	case trust > 0:
		return fmt.Sprintf("Of the other %.2f: ", 1-trust) + back
	}
	return back
}

// writeViews writes what was assumed, and what each assumption alone would say.
func (r *Report) writeViews(w io.Writer) error {
	h := r.Diagnostics.Hedge
	if n := h.Noisy(); n != "" {
		fmt.Fprintf(w, "\n%s.\n", n)
	}
	if h.Stayed() {
		fmt.Fprintf(w, "\nThe source's classes explain the target where they are, when only their proportions change: weight %.2f.\n", h.Stays.Trust)
	}
	if held := h.Held(); held != "" {
		fmt.Fprintf(w, "\n%s.\n", held)
	}
	fmt.Fprintln(w, "\nThe estimate is the mean of what these assumptions give. "+weighing(h.Stays.Trust))
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	r.writeHeader(tw, "assumption\tname\tweight\tback\t")
	for _, v := range h.ByWeight() {
		writeRow(tw, fmt.Sprintf("%s\t%s\t%.2f\t%.0f %%\t", diagnostics.Assumption(v.Name), v.Name, v.Weight, 100*v.Circle), v.Proportions)
	}
	return tw.Flush()
}
