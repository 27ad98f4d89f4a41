package train

import (
	"context"
	"fmt"

	"mars/arrowio"
	"mars/stages"
	"mars/stages/internal/rows"
	"mars/stages/match/transport"
	"mars/stages/train/adapt"
	"mars/stages/train/adapt/translate"
	"mars/stages/train/gmmot"
)

// learnMixture labels by a matched mixture, without adapting.
func learnMixture(ctx context.Context, env stages.Env, in *arrowio.Spool, o Options) (*rows.Learnt, error) {
	p, _, err := gather(ctx, env, in, o, true)
	if err != nil {
		return nil, err
	}
	column := o.column(env, in)
	m, matching, err := gmmot.Fit(p.Source, p.Labels, p.Target, p.Classes, env.Seed)
	if err != nil {
		return nil, &arrowio.Error{Input: in.Name(), Offset: -1, Batch: -1, Column: column, Err: err}
	}
	env.Logger().Info(fmt.Sprintf("%d Gaussian components of the column %q matched with classes: p_T %.3f", m.Mixture.K(), column, m.Proportions))
	diagnostics := diagnoseMixture(env, p, m, matching)
	m.Vectors = rows.VectorsOf(env, column)
	if m.Decision, err = translate.ParseDecisionOrNone(o.decision()); err != nil {
		return nil, err
	}
	if m.Provenance, err = rows.Provenance(env, in); err != nil {
		return nil, err
	}
	return &rows.Learnt{
		Save: func(path string) (string, error) { return rows.SaveMixture(path, m) },
		Emit: emitter(rows.Mixture(m), m.Proportions, diagnostics),
	}, nil
}

// diagnoseMixture is what is to be said of a matched mixture.
func diagnoseMixture(env stages.Env, p *adapt.Problem, m *gmmot.Model, matching *transport.Matching) *rows.Diagnostics {
	classes := transport.NewPrototypes(len(p.Classes), p.Source.Cols)
	err := classes.Add(p.Source, p.Labels)
	var check *transport.Check
	if err == nil {
		check, err = transport.NewCheck(matching, classes.Moments(), transport.Moments{Means: m.Mixture.Means}, transport.Means)
	}
	if err != nil {
		env.Logger().Info(fmt.Sprintf("the matching cannot be checked: %v", err))
	}
	d := &rows.Diagnostics{Estimator: gmmot.Method, Matching: rows.NewMatching(transport.Means, check, p.Classes)}
	rows.LogPart(env, d.Matching)
	return d
}
