package train

import (
	"context"
	"fmt"

	"mars/arrowio"
	"mars/stages"
	"mars/stages/internal/rows"
	"mars/stages/reweight/labelshift"
	"mars/stages/train/adapt"
	"mars/stages/train/adapt/retrain"
)

// fitTranslated is the job of match, translate, retrain.
func fitTranslated(ctx context.Context, env stages.Env, in *arrowio.Spool, o Options) (*job, error) {
	p, _, err := gather(ctx, env, in, o, true)
	if err != nil {
		return nil, err
	}
	c, err := retrain.Config(o.Arch, p.Shape, p.Source.Rows)
	if err != nil {
		return nil, err
	}
	if o.column(env, in) == env.Columns.Embedding {
		c.Input = adapt.InputAsIs // its columns have one scale, and the small ones say little
	}
	c.Seed, c.Jobs = env.Seed, env.Jobs
	e, diagnostics, err := match(ctx, env, p, o.Panel)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", in.Name(), err)
	}
	env.Logger().Info(fmt.Sprintf("classes found in the column %q: p_T %.3f", o.column(env, in), e.Proportions))
	diagnostics.Log(env)
	j := &job{problem: *p, config: c, unmoved: p.Source, diagnostics: diagnostics}
	if j.problem.Source, err = retrain.Move(*p, e); err != nil {
		return nil, fmt.Errorf("%s: %w", in.Name(), err)
	}
	j.train = func(ctx context.Context, p adapt.Problem, c adapt.Config) (*adapt.Model, error) {
		return retrain.TrainMoved(ctx, p, c, e)
	}
	return j, nil
}

// match finds the source's classes in the target, and asks the panel if wanted.
func match(ctx context.Context, env stages.Env, p *adapt.Problem, panel bool) (*labelshift.Estimate, *rows.Diagnostics, error) {
	problem := labelshift.Problem{Source: p.Source, Labels: p.Labels, Classes: len(p.Classes), Names: p.Classes,
		Target: labelshift.InMemory(p.Target)}
	options := labelshift.MTEOptions{Seed: env.Seed}
	if !panel {
		e, err := labelshift.MTE(problem, options)
		if err != nil {
			return nil, nil, err
		}
		return e, &rows.Diagnostics{Estimator: e.Estimator, Warnings: e.Warnings}, nil
	}
	return rows.Consult(problem, retrain.Classifier(ctx, env.Seed, env.Jobs), options)
}
