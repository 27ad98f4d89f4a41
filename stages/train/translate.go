package train

import (
	"context"
	"fmt"

	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/mte"
	"mars.dev/mars/stages/algorithms/translate"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/stream"
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
	e, err := find(ctx, r.Env, p, o.Panel)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Name(), err)
	}
	said := diagnostics.OfEstimate(e)
	r.Logger().Info(fmt.Sprintf("classes found in the column %q: p_T %s", o.column(r), spelling.Numbers(e.Proportions)))
	said.Log(r.Env)
	j := &job{problem: *p, config: c, unmoved: p.Source, diagnostics: said}
	if j.problem.Source, err = translate.Move(ctx, *p, e.Responsibilities); err != nil {
		return nil, fmt.Errorf("%s: %w", r.Name(), err)
	}
	j.train = func(ctx context.Context, p adapt.Problem, c adapt.Config) (*adapt.Model, error) {
		return translate.Train(ctx, p, c, e.Proportions)
	}
	return j, nil
}

// find finds the source's classes in the target, and asks the panel if wanted.
func find(ctx context.Context, env stages.Env, p *adapt.Problem, panel bool) (*labelshift.Result, error) {
	estimator := "mte"
	if panel {
		estimator = "auto"
	}
	problem := mte.Problem{Source: p.Source, Labels: p.Labels, Classes: len(p.Classes), Names: p.Classes, Target: mte.InMemory(p.Target)}
	return labelshift.Estimate(ctx, estimator, labelshift.Inputs{Problem: problem, Train: translate.Classifier(env.Seed, env.Jobs), Seed: env.Seed})
}
