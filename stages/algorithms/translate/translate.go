package translate

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/classmap"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/mte"
	"mars.dev/mars/stages/algorithms/scale"
)

// Method is what the method is called, in models too.
const Method = "translate"

// Train trains a network on the source's rows as Move returned them, as c says
// (see Config). The model takes rows as they came. Its posteriors carry the
// source's proportions (Model.Prior), and Model.Proportions are the target's.
// Errors are those of adapt.Train.
func Train(ctx context.Context, p adapt.Problem, c adapt.Config, proportions []float64) (*adapt.Model, error) {
	p.Target = blas32.General{}
	m, err := adapt.Train(ctx, p, c)
	if m != nil {
		m.Method, m.Proportions = Method, slices.Clone(proportions)
	}
	return m, err
}

// Move returns the source's rows where the target has their classes, by the
// responsibilities of the target's rows (n_T×C, see mte.Fit).
//
// The move is learnt on standardised columns, for the ridge of package classmap
// is relative to their mean variance. Errors are those of classmap.Fit, and a
// column of the target so far out that it cannot be standardised.
func Move(ctx context.Context, p adapt.Problem, responsibilities blas32.General) (blas32.General, error) {
	standard, _, err := scale.Fit(ctx, p.Source)
	if err != nil {
		return blas32.General{}, err
	}
	source, target := dense.Clone(p.Source), dense.Clone(p.Target)
	for _, x := range []blas32.General{source, target} {
		if err := standard.Apply(ctx, x); err != nil {
			return source, fmt.Errorf("translate: %w", err)
		}
	}
	way, err := classmap.Fit(ctx, source, p.Labels, mte.InMemory(target), responsibilities, classmap.Options{})
	if err != nil {
		return source, err
	}
	if err := way.Apply(ctx, source, source, p.Labels); err != nil {
		return source, err
	}
	for i := range source.Rows {
		row := dense.Row(source, i)
		for j, v := range row {
			row[j] = float32(float64(v)*standard.Deviation[j] + standard.Mean[j])
		}
	}
	return source, nil
}
