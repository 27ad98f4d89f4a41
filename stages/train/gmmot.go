package train

import (
	"context"
	"fmt"

	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/gmmot"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/transport"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/models"
	"mars.dev/mars/stages/internal/stream"
)

// learnMixture labels by a matched mixture, without adapting.
func learnMixture(ctx context.Context, r *stream.Rows, o Options) (*trained, error) {
	p, _, err := gather(ctx, r, o, true)
	if err != nil {
		return nil, err
	}
	column := o.column(r)
	m, matching, err := gmmot.Fit(ctx, p.Source, p.Labels, p.Target, p.Classes, r.Seed)
	if err != nil {
		return nil, r.Fail(column, err, "")
	}
	r.Logger().Info(fmt.Sprintf("%d Gaussian components of the column %q matched with classes: p_T %s", m.Mixture.K(), column, spelling.Numbers(m.Proportions)))
	said := diagnoseMixture(ctx, r.Env, p, m, matching)
	models.Note(&m.Use, r, column)
	if m.Decision, err = labelshift.ParseDecisionOrNone(o.decision()); err != nil {
		return nil, err
	}
	if m.Provenance, err = r.Provenance(); err != nil {
		return nil, err
	}
	return &trained{models.Mixture(m), func(path string) (string, error) { return models.SaveMixture(path, m) }, m.Proportions, said}, nil
}

// diagnoseMixture returns the diagnostics of a matched mixture.
func diagnoseMixture(ctx context.Context, env stages.Env, p *adapt.Problem, m *gmmot.Model, matching *transport.Matching) *diagnostics.Diagnostics {
	classes := transport.NewPrototypes(len(p.Classes), p.Source.Cols)
	err := classes.Add(ctx, p.Source, p.Labels)
	var check *transport.Check
	if err == nil {
		check, err = transport.NewCheck(ctx, matching, classes.Moments(), transport.Moments{Means: m.Mixture.Means}, transport.Means)
	}
	if err != nil {
		env.Logger().Info(fmt.Sprintf("the matching cannot be checked: %v", err))
	}
	d := &diagnostics.Diagnostics{Estimator: gmmot.Method, Matching: diagnostics.NewMatching(transport.Means, check, p.Classes)}
	diagnostics.LogPart(env, d.Matching)
	return d
}
