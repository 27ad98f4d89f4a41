package translate

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars/stages/algorithms/adapt"
	"mars/stages/algorithms/classmap"
	"mars/stages/algorithms/labelshift"
	"mars/stages/algorithms/scale"
)

// Method is what a model that Train has trained calls its method.
const Method = "translate"

// Train moves the rows of the source's classes to where the estimate e, made by
// labelshift.MTE of the same problem, found them in the target (see Move), and
// trains a network on them (see TrainMoved).
func Train(ctx context.Context, p adapt.Problem, c adapt.Config, e *labelshift.Estimate) (*adapt.Model, error) {
	var err error
	if p.Source, err = Move(p, e); err != nil {
		return nil, err
	}
	return TrainMoved(ctx, p, c, e)
}

// TrainMoved trains a network on the source's rows as Move returned them, as c
// says (see Config). The model takes rows as they came. Its posteriors carry
// the source's proportions (Model.Prior), and Model.Proportions are the target's.
// Errors are those of adapt.Train.
func TrainMoved(ctx context.Context, p adapt.Problem, c adapt.Config, e *labelshift.Estimate) (*adapt.Model, error) {
	p.Target = blas32.General{}
	m, err := adapt.Train(ctx, p, c)
	if m != nil {
		m.Method, m.Proportions = Method, slices.Clone(e.Proportions)
	}
	return m, err
}

// Move returns the source's rows where the target has their classes.
//
// The move is learnt on standardised columns, for the ridge of translate is
// relative to their mean variance. Errors are those of classmap.Fit, and a
// column of the target so far out that it cannot be standardised.
func Move(p adapt.Problem, e *labelshift.Estimate) (blas32.General, error) {
	standard, _, err := scale.Fit(context.TODO(), p.Source)
	if err != nil {
		return p.Source, fmt.Errorf("translate: %w", err)
	}
	source, target := clone(p.Source), clone(p.Target)
	for _, x := range []blas32.General{source, target} {
		if err := standard.Apply(context.TODO(), x); err != nil {
			return source, fmt.Errorf("translate: %w", err)
		}
	}
	way, err := classmap.Fit(context.TODO(), source, p.Labels, labelshift.InMemory(target), e.Responsibilities, classmap.Options{})
	if err != nil {
		return source, err
	}
	if err := way.Apply(context.TODO(), source, source, p.Labels); err != nil {
		return source, err
	}
	for i := range source.Rows {
		row := source.Data[i*source.Stride:][:source.Cols]
		for j, v := range row {
			row[j] = float32(float64(v)*standard.Deviation[j] + standard.Mean[j])
		}
	}
	return source, nil
}

// clone copies the rows of x.
func clone(x blas32.General) blas32.General {
	c := blas32.General{Rows: x.Rows, Cols: x.Cols, Stride: max(1, x.Cols), Data: make([]float32, 0, x.Rows*x.Cols)}
	for i := range x.Rows {
		c.Data = append(c.Data, x.Data[i*x.Stride:][:x.Cols]...)
	}
	return c
}
