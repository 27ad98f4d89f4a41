package train

import (
	"context"
	"fmt"

	"mars/stages"
	"mars/stages/algorithms/adapt"
	"mars/stages/algorithms/labelshift"
	"mars/stages/algorithms/translate"
	"mars/stages/internal/diagnostics"
	"mars/stages/internal/stream"
)

// fitTranslated is the job of match, translate, translate.
func fitTranslated(ctx context.Context, r *stream.Rows, o Options) (*job, error) {
	p, _, err := gather(ctx, r, o, true)
	if err != nil {
		return nil, err
	}
	c, err := translate.Config(o.Arch, p.Shape, p.Source.Rows)
	if err != nil {
		return nil, err
	}
	if o.column(r) == r.Columns.Embedding {
		c.Input = adapt.InputAsIs // its columns have one scale, and the small ones say little
	}
	c.Seed, c.Jobs = r.Seed, r.Jobs
	e, said, err := match(ctx, r.Env, p, o.Panel)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Name(), err)
	}
	r.Logger().Info(fmt.Sprintf("classes found in the column %q: p_T %.3f", o.column(r), e.Proportions))
	said.Log(r.Env)
	j := &job{problem: *p, config: c, unmoved: p.Source, diagnostics: said}
	if j.problem.Source, err = translate.Move(*p, e); err != nil {
		return nil, fmt.Errorf("%s: %w", r.Name(), err)
	}
	j.train = func(ctx context.Context, p adapt.Problem, c adapt.Config) (*adapt.Model, error) {
		return translate.TrainMoved(ctx, p, c, e)
	}
	return j, nil
}

// match finds the source's classes in the target, and asks the panel if wanted.
func match(ctx context.Context, env stages.Env, p *adapt.Problem, panel bool) (*labelshift.Estimate, *diagnostics.Diagnostics, error) {
	problem := labelshift.Problem{Source: p.Source, Labels: p.Labels, Classes: len(p.Classes), Names: p.Classes,
		Target: labelshift.InMemory(p.Target)}
	options := labelshift.MTEOptions{Seed: env.Seed}
	if !panel {
		e, err := labelshift.MTE(problem, options)
		if err != nil {
			return nil, nil, err
		}
		return e, &diagnostics.Diagnostics{Estimator: e.Estimator, Warnings: e.Warnings}, nil
	}
	return diagnostics.Consult(problem, translate.Classifier(ctx, env.Seed, env.Jobs), options)
}
