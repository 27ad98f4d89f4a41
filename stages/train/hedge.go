package train

import (
	"context"

	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/models"
	"mars.dev/mars/stages/internal/state"
	"mars.dev/mars/stages/internal/stream"
)

// learnHedge labels under several assumptions.
func learnHedge(ctx context.Context, r *stream.Rows, o Options) (*trained, error) {
	classes, err := r.Classes(ctx)
	if err != nil {
		return nil, err
	}
	column := o.column(r)
	m, err := models.FitHedge(ctx, r, column, classes, hedge.Options{Assume: o.Assume, Classifiers: o.Classifiers, KeepAll: o.KeepAll, Seed: r.Seed,
		Sampled: o.Save != "" && o.given == nil})
	if err != nil {
		return nil, err
	}
	if m.Decision, err = labelshift.ParseDecisionOrNone(o.decision()); err != nil {
		return nil, err
	}
	if m.Provenance, err = r.Provenance(); err != nil {
		return nil, err
	}
	if o.given != nil {
		if m.Model, err = o.given.Relearn(ctx, r.Env, m.Model); err != nil {
			return nil, err
		}
	} else {
		if m.Said.Weights != nil {
			diagnostics.LogPart(r.Env, m.Said.Weights)
		}
		m.Said.Log(r.Env)
	}
	save := func(path string) (string, error) { return state.Save(path, m.Save) }
	return &trained{models.Hedge(m.Model), save, m.Proportions, m.Said}, nil
}
