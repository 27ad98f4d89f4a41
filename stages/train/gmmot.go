package train

import (
	"context"
	"fmt"

	"mars/arrowio"
	"mars/stages"
	"mars/stages/internal/rows"
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
	env.Logger().Info(fmt.Sprintf("%d Gaussian components of the column %q matched with classes: p_T %.3f", m.Mixture.K(), column, m.Proportions),
		"margin to the next best matching", fmt.Sprintf("%.4f", matching.Margin))
	m.Vectors = rows.VectorsOf(env, column)
	if m.Decision, err = translate.ParseDecisionOrNone(o.decision()); err != nil {
		return nil, err
	}
	if m.Provenance, err = rows.Provenance(env, in); err != nil {
		return nil, err
	}
	return &rows.Learnt{
		Save: func(path string) (string, error) { return rows.SaveMixture(path, m) },
		Emit: emitter(rows.Mixture(m), m.Proportions, nil),
	}, nil
}
