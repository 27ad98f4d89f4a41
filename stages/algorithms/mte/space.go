package mte

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/affine"
	"mars.dev/mars/stages/algorithms/scale"
)

const (
	// clipping is how many standard deviations from the source's mean values
	// are cut off at.
	clipping = 8
	// maxAxes is how many principal components of the source are kept.
	maxAxes = 50
	// minDeviation is the least mean deviation of rows that are not all equal.
	minDeviation = 1e-9
	// mapRows is how many rows are mapped at a time.
	mapRows = 256
)

// standardised returns the space of the standardised columns of x.
func standardised(ctx context.Context, x blas32.General) (*affine.Map, error) {
	s, _, err := scale.Fit(ctx, x)
	return &affine.Map{Mean: s.Mean, Scale: s.Scales(), Clip: clipping}, err
}

// unscaled returns the space of d columns as they are.
func unscaled(d int) *affine.Map {
	return &affine.Map{Mean: make([]float64, d), Scale: slices.Repeat([]float64{1}, d), Clip: math.Inf(1)}
}

// along returns the space of axes (d×q) in another, after moving by −origin, which may be nil.
func along(s *affine.Map, axes *mat.Dense, origin []float64) *affine.Map {
	t := *s
	if t.Axes, t.Shift = axes, nil; origin != nil {
		t.Shift = affine.Shift(axes, origin)
	}
	return &t
}

// spaces learns two spaces from the source: the wide one of standardised
// columns or, if there are more than maxAxes, their principal components; and
// the narrow one of linear discriminants in it, at most C−1 axes that tell the
// classes apart.
func spaces(ctx context.Context, source blas32.General, labels []int32, classes int, prepared bool) (wide, narrow *affine.Map, err error) {
	if prepared {
		wide = unscaled(source.Cols)
	} else if wide, err = standardised(ctx, source); err != nil {
		return nil, nil, err
	}
	all, err := newMoments(ctx, wide, source, labels, classes)
	if err != nil {
		return nil, nil, err
	}
	if all.trace() < minDeviation {
		return nil, nil, errors.New("mte: all source rows are equal: give features that tell the classes apart")
	}
	m := all
	if source.Cols > maxAxes {
		axes, err := all.principal(ctx, maxAxes)
		if err != nil {
			return nil, nil, err
		}
		wide, m = along(wide, axes, nil), all.project(axes)
	}
	axes, err := m.discriminants()
	if err != nil {
		return nil, nil, err
	}
	if wide.Axes != nil {
		var product mat.Dense
		product.Mul(wide.Axes, axes)
		axes = &product
	}
	return wide, along(wide, axes, all.mean), nil
}
