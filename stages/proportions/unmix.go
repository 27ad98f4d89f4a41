package proportions

import (
	"context"
	"errors"
	"fmt"

	"mars.dev/mars/stages/algorithms/unmix"
	"mars.dev/mars/stages/internal/stream"
)

// answerUnmix answers for rows that are mixtures of the classes.
func answerUnmix(ctx context.Context, r *stream.Rows, classes []string, o Options) (*Report, error) {
	if o.rows != nil {
		return nil, fmt.Errorf("%s: with the method unmix a row has no label: leave the labels out", o.rows.Path)
	}
	s, err := r.Gather(ctx, classes, stream.Want{Vector: r.Vectors(), Source: true, Target: true, Labels: true, MaxTarget: maxRows})
	if err != nil {
		return nil, err
	}
	if s.Target.Rows == 0 {
		return nil, r.Fail(r.Vectors(), errors.New("no target row has a value"), "give rows with values")
	}
	m, err := unmix.Fit(ctx, s.Source, s.Labels, classes)
	if err != nil {
		return nil, r.Fail(r.Vectors(), err, "")
	}
	if m.Amounts() {
		r.Logger().Info(unmix.OfAmounts)
	}
	shares, err := m.Together(ctx, s.Target)
	if err != nil {
		return nil, r.Fail(r.Vectors(), err, "")
	}
	b, err := m.Bounds(ctx, s.Source, s.Labels, s.Target, unmix.IntervalOptions{Level: o.Level, Replicates: o.Bootstrap, Groups: o.tree.Groups(), Seed: r.Seed})
	if err != nil {
		return nil, err
	}
	report := &Report{Classes: classes, Method: unmix.Method, TargetRows: s.TargetRows, ExpectedError: b.Error, tree: o.tree,
		Interval: Interval{Level: o.Level, Lower: b.Lower, Upper: b.Upper}, Warnings: []string{unmix.Assumes}, Diagnostics: &Diagnostics{}}
	report.Proportions.Source, report.Proportions.Estimated = stream.Shares(stream.Counts(s.Labels, len(classes))), shares
	for _, v := range b.Groups {
		report.bounds = append(report.bounds, levelBounds{Lower: v.Lower, Upper: v.Upper})
	}
	report.believe("the shares are those of the mean of all rows, and where classes looked otherwise than in the source they were as far off as counts of 25 rows (docs/measured/unmix.md)")
	report.heedRows(s.MissingShare(), r.Doubts())
	return report, report.total(r, classes)
}
