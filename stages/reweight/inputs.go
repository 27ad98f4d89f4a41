package reweight

import (
	"context"
	"errors"
	"fmt"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/mte"
	"mars.dev/mars/stages/algorithms/translate"
	"mars.dev/mars/stages/internal/stream"
)

// estimate is p_T by the estimator that the options name.
func (o Options) estimate(ctx context.Context, c *counter, meta arrowio.Meta) (*labelshift.Result, error) {
	in, err := o.inputs(ctx, c, meta)
	if err != nil {
		return nil, err
	}
	found, err := labelshift.Estimate(ctx, o.Estimator, *in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name(), err)
	}
	return found, nil
}

// inputs gathers what the estimator works on.
func (o Options) inputs(ctx context.Context, c *counter, meta arrowio.Meta) (*labelshift.Inputs, error) {
	needs, err := labelshift.NeedsOf(o.Estimator)
	if err != nil {
		return nil, err
	}
	if needs == labelshift.Known {
		p, err := o.known(ctx, c, meta)
		return &labelshift.Inputs{Problem: mte.Problem{Classes: len(c.classes)}, Known: p}, err
	}
	if err := c.Rewind(); err != nil {
		return nil, err
	}
	if needs == labelshift.Posteriors {
		return o.posteriors(ctx, c.Rows, c.classes)
	}
	return o.rows(ctx, c.Rows, c.classes)
}

// known is p_T by an estimator that takes what others have found.
func (o Options) known(ctx context.Context, c *counter, meta arrowio.Meta) ([]float64, error) {
	switch o.Estimator {
	case "mars":
		return c.shares(c.target, arrowio.TargetDomain)
	case "plan":
		if len(meta.TargetProportions) != len(c.classes) {
			return nil, c.Fail("", errors.New("its metadata have no target proportions"), "run mars-match before, without a tool in between that drops them")
		}
		return meta.TargetProportions, nil
	case "given":
		return o.Proportions(c.classes)
	}
	if err := c.Rewind(); err != nil {
		return nil, err
	}
	return c.TruthShares(ctx, c.classes)
}

// rows are the inputs of the estimators of rows.
func (o Options) rows(ctx context.Context, r *stream.Rows, classes []string) (*labelshift.Inputs, error) {
	column := r.Vectors()
	o.say(r, column)
	s, err := r.Gather(ctx, classes, stream.Want{Vector: column, Source: true, Labels: true})
	if err != nil {
		return nil, err
	}
	p := mte.Problem{Source: s.Source, Labels: s.Labels, Classes: len(classes), Names: classes, Target: r.TargetBlocks(ctx, column)}
	return &labelshift.Inputs{Problem: p, Train: translate.Classifier(r.Seed, r.Jobs), Seed: r.Seed}, nil
}

// posteriors are the inputs of the estimators of posteriors.
func (o Options) posteriors(ctx context.Context, r *stream.Rows, classes []string) (*labelshift.Inputs, error) {
	if o.fits(r) {
		return o.crossFitted(ctx, r, classes)
	}
	column := r.Columns.Probability
	o.say(r, column)
	if o.needsUnseen() && !o.AllUnseen {
		r.HoldOut(0) // require has seen that there are such rows
	}
	s, err := r.Gather(ctx, classes, stream.Want{Vector: column, Source: true, Target: true, Labels: true})
	if err != nil {
		return nil, err
	}
	if s.Source.Cols != len(classes) {
		return nil, r.Fail(column, fmt.Errorf("rows have %d posteriors, and there are %d classes", s.Source.Cols, len(classes)),
			"run mars-predict with a model of these classes")
	}
	if o.needsUnseen() && !o.AllUnseen { // the others were trained on
		if s.Held.Rows == 0 {
			return nil, r.Fail(r.Columns.Unseen, errors.New("it marks no source row"), "run mars-embed --hold-out 3 before")
		}
		s.Source, s.Labels = s.Held, s.HeldLabels
	}
	p := mte.Problem{Labels: s.Labels, Classes: len(classes), Names: classes}
	return &labelshift.Inputs{Problem: p, SourcePosteriors: s.Source, TargetPosteriors: s.Target, Calibration: o.Calibration}, nil
}

// fits reports whether the posteriors are those of classifiers of the stage's own: of a
// table without posteriors. In pixels a classifier is not worth much.
func (o Options) fits(r *stream.Rows) bool {
	return !r.Has(r.Columns.Probability) && r.Has(r.Columns.Features) && !r.Images()
}

// crossFitted are the inputs of the estimators of posteriors, by classifiers that are
// trained here on the features.
func (o Options) crossFitted(ctx context.Context, r *stream.Rows, classes []string) (*labelshift.Inputs, error) {
	column := r.Columns.Features
	s, err := r.Gather(ctx, classes, stream.Want{Vector: column, Source: true, Target: true, Labels: true})
	if err != nil {
		return nil, err
	}
	r.Logger().Info(fmt.Sprintf("estimator %s on the posteriors of classifiers of the column %q, each of rows that it was not trained on", o.Estimator, column))
	in := &labelshift.Inputs{Problem: mte.Problem{Labels: s.Labels, Classes: len(classes), Names: classes}, Calibration: o.Calibration}
	in.SourcePosteriors, in.TargetPosteriors, err = labelshift.CrossFit(ctx, s.Source, s.Labels, len(classes), s.Target, translate.Classifier(r.Seed, r.Jobs))
	if err != nil {
		return nil, r.Fail(column, err, "")
	}
	return in, nil
}

func (o Options) say(r *stream.Rows, column string) {
	r.Logger().Info(fmt.Sprintf("estimator %s on the column %q", o.Estimator, column))
}
