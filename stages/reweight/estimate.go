package reweight

import (
	"context"
	"fmt"

	"mars/stages/algorithms/labelshift"
	"mars/stages/algorithms/translate"
	"mars/stages/internal/diagnostics"
	"mars/stages/internal/stream"
)

// estimate is p_T by an estimator of labelshift, and what is to be said of it.
func estimate(ctx context.Context, r *stream.Rows, o Options, classes []string) ([]float64, *diagnostics.Diagnostics, error) {
	e, err := evidence(ctx, r, o, classes)
	if err != nil {
		return nil, nil, err
	}
	if o.Estimator == "auto" {
		return consult(r, e)
	}
	found, err := e.Estimate(o.Estimator)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", r.Name(), err)
	}
	return found.Proportions, &diagnostics.Diagnostics{Estimator: o.Estimator, Warnings: found.Warnings}, nil
}

// consult is auto: MTE, with a warning where it is expected to be off.
//
// Refit is about as good on some tasks and worse on others (docs/measured/estimators.md),
// and where it differs from MTE it is one of two opinions that tell how far off
// MTE may be.
func consult(r *stream.Rows, e *labelshift.Evidence) ([]float64, *diagnostics.Diagnostics, error) {
	found, said, err := diagnostics.Consult(e.Problem, e.Train, e.Options)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", r.Name(), err)
	}
	return found.Proportions, said, nil
}

// evidence gathers what the estimator works on.
func evidence(ctx context.Context, r *stream.Rows, o Options, classes []string) (*labelshift.Evidence, error) {
	posteriors := labelshift.UsesPosteriors(o.Estimator)
	column := r.Vectors()
	if posteriors {
		column = r.Columns.Probability
	}
	r.Logger().Info(fmt.Sprintf("estimator %s on the column %q", o.Estimator, column))
	s, err := r.Gather(ctx, classes, stream.Want{Vector: column, Source: true, Target: posteriors, Labels: true})
	if err != nil {
		return nil, err
	}
	e := &labelshift.Evidence{
		Problem: labelshift.Problem{Source: s.Source, Labels: s.Labels, Classes: len(classes), Names: classes},
		Train:   translate.Classifier(ctx, r.Seed, r.Jobs), Options: labelshift.MTEOptions{Seed: r.Seed}, Calibration: o.Calibration,
	}
	if !posteriors {
		e.Target = r.TargetBlocks(ctx, column)
		return e, nil
	}
	if s.Source.Cols != len(classes) {
		return nil, r.Fail(column, fmt.Errorf("rows have %d posteriors, and there are %d classes", s.Source.Cols, len(classes)), "run mars-predict with a model of these classes")
	}
	e.SourcePosteriors, e.TargetPosteriors = s.Source, s.Target
	return e, nil
}
