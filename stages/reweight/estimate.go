package reweight

import (
	"context"
	"fmt"

	"mars/arrowio"
	"mars/stages"
	"mars/stages/internal/rows"
	"mars/stages/reweight/labelshift"
	"mars/stages/train/adapt/retrain"
)

// estimate is p_T by an estimator of labelshift, and what is to be said of it.
func estimate(ctx context.Context, env stages.Env, in *arrowio.Spool, o Options, classes []string) ([]float64, *rows.Diagnostics, error) {
	e, err := evidence(ctx, env, in, o, classes)
	if err != nil {
		return nil, nil, err
	}
	if o.Estimator == "auto" {
		return consult(in, e)
	}
	found, err := e.Estimate(o.Estimator)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", in.Name(), err)
	}
	return found.Proportions, &rows.Diagnostics{Estimator: o.Estimator, Warnings: found.Warnings}, nil
}

// consult is auto: MTE, with a warning where it is expected to be off.
//
// Refit is about as good on some tasks and worse on others (docs/estimators.md),
// and where it differs from MTE it is one of two opinions that tell how far off
// MTE may be.
func consult(in arrowio.Source, e *labelshift.Evidence) ([]float64, *rows.Diagnostics, error) {
	found, diagnostics, err := rows.Consult(e.Problem, e.Train, e.Options)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", in.Name(), err)
	}
	return found.Proportions, diagnostics, nil
}

// evidence gathers what the estimator works on.
func evidence(ctx context.Context, env stages.Env, in *arrowio.Spool, o Options, classes []string) (*labelshift.Evidence, error) {
	posteriors := labelshift.UsesPosteriors(o.Estimator)
	column := rows.Vectors(in, env)
	if posteriors {
		column = env.Columns.Probability
	}
	env.Logger().Info(fmt.Sprintf("estimator %s on the column %q", o.Estimator, column))
	s, err := rows.Gather(ctx, env, in, classes, rows.Want{Vector: column, Source: true, Target: posteriors, Labels: true})
	if err != nil {
		return nil, err
	}
	e := &labelshift.Evidence{
		Problem: labelshift.Problem{Source: s.Source, Labels: s.Labels, Classes: len(classes), Names: classes},
		Train:   retrain.Classifier(ctx, env.Seed, env.Jobs), Options: labelshift.MTEOptions{Seed: env.Seed}, Calibration: o.Calibration,
	}
	if !posteriors {
		e.Target = rows.TargetBlocks(ctx, env, in, column)
		return e, nil
	}
	if s.Source.Cols != len(classes) {
		return nil, &arrowio.Error{Input: in.Name(), Offset: -1, Batch: -1, Column: column,
			Err: fmt.Errorf("rows have %d posteriors, and there are %d classes", s.Source.Cols, len(classes)), Advice: "run mars-predict with a model of these classes"}
	}
	e.SourcePosteriors, e.TargetPosteriors = s.Source, s.Target
	return e, nil
}
