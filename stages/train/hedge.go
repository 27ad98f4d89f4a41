package train

import (
	"context"
	"fmt"

	"mars/stages/algorithms/hedge"
	"mars/stages/algorithms/labelshift"
	"mars/stages/internal/diagnostics"
	"mars/stages/internal/models"
	"mars/stages/internal/state"
	"mars/stages/internal/stream"
)

// learnHedge labels under several assumptions.
func learnHedge(ctx context.Context, r *stream.Rows, o Options) (stream.State, error) {
	classes, err := r.Classes(ctx)
	if err != nil {
		return nil, err
	}
	column := o.column(r)
	s, err := r.Gather(ctx, classes, stream.Want{Vector: column, Source: true, Target: true, Labels: true, MaxTarget: hedge.MaxRows})
	if err != nil {
		return nil, err
	}
	m, err := hedge.Fit(ctx, hedge.Problem{Source: s.Source, Labels: s.Labels, Target: s.Target, Classes: classes},
		hedge.Options{Assume: o.Assume, Classifiers: o.Classifiers, Seed: r.Seed})
	if err != nil {
		return nil, fmt.Errorf("%s: column %q: %w", r.Name(), column, err)
	}
	m.Vectors = models.VectorsOf(r.Env, column)
	if m.Decision, err = labelshift.ParseDecisionOrNone(o.decision()); err != nil {
		return nil, err
	}
	if m.Provenance, err = r.Provenance(); err != nil {
		return nil, err
	}
	said := diagnostics.OfHedge(m)
	counts := stream.Counts(s.Labels, len(classes))
	if weights, err := labelshift.Weights(m.Proportions, stream.Shares(counts)); err == nil {
		said.Weights = diagnostics.NewWeights(classes, weights, counts)
		diagnostics.LogPart(r.Env, said.Weights)
	}
	said.Log(r.Env)
	save := func(path string) (string, error) { return state.Save(path, m.Save) }
	return &trained{models.Hedge(m), save, m.Proportions, said}, nil
}
