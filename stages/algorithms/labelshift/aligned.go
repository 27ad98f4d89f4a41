package labelshift

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/classmap"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/mte"
)

// aligned is MTE from another beginning: the source's rows, as a whole, are
// first given the mean and the covariance of the target's (CORAL, Sun, Feng &
// Saenko 2016). That is translation as if all rows were of one class.
func aligned(ctx context.Context, m *mte.MTE) (*Result, error) {
	source, labels := m.SourceRows()
	whole, err := classmap.Fit(ctx, source, make([]int32, source.Rows), m.TargetRows, ones(m.Responsibilities.Rows), classmap.Options{})
	if err != nil {
		return nil, err
	}
	if err := whole.Apply(ctx, source, source, make([]int32, source.Rows)); err != nil {
		return nil, err
	}
	again, err := mte.Fit(ctx, mte.Problem{Source: source, Labels: labels, Target: m.TargetRows, Classes: len(m.Present().Class)}, m.Options())
	if err != nil {
		return nil, fmt.Errorf("labelshift: after aligning source and target: %w", err)
	}
	return ofAll(m, found("aligned", again.Estimate, again.Warnings), "aligned"), nil
}

// ones returns n responsibilities of 1, for one class.
func ones(n int) blas32.General {
	x := dense.New(n, 1)
	for i := range x.Data {
		x.Data[i] = 1
	}
	return x
}
