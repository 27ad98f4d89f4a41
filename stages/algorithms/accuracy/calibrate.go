package accuracy

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/labelshift"
)

// A calibrator makes posteriors (n×C) mean what they say: of rows with a posterior p of a class,
// a share p is of it. It does not change what it is given.
type calibrator interface {
	Apply(posteriors blas32.General) blas32.General
}

// perClass calibrates each class by itself, and divides by the sum.
type perClass []steps

// fitIsotonic fits an isotonic function of each class' posterior (Zadrozny & Elkan 2002); of two
// classes one is enough.
func fitIsotonic(ctx context.Context, posteriors blas32.General, labels []int32) (calibrator, error) {
	functions := make(perClass, posteriors.Cols)
	x, y := make([]float32, posteriors.Rows), make([]float64, posteriors.Rows)
	for k := range functions {
		if posteriors.Cols == 2 && k == 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for i := range x {
			x[i], y[i] = dense.Row(posteriors, i)[k], 0
			if int(labels[i]) == k {
				y[i] = 1
			}
		}
		functions[k] = isotonic(x, y)
	}
	return functions, nil
}

// Apply is that of a calibrator.
func (f perClass) Apply(posteriors blas32.General) blas32.General {
	out := dense.New(posteriors.Rows, posteriors.Cols)
	values := make([]float64, len(f))
	for i := range out.Rows {
		row := dense.Row(posteriors, i)
		for k := range f {
			if f[k].x != nil {
				values[k] = f[k].at(float64(row[k]))
			}
		}
		if len(f) == 2 {
			values[0] = 1 - values[1]
		}
		dense.Normalize(values)
		for k, v := range values {
			dense.Row(out, i)[k] = float32(v)
		}
	}
	return out
}

// A table has the classes' shares of the rows of each prediction, for predictions that are classes
// alone: rows of posteriors have a single 1.
type table blas32.General

// fitTable counts labels by prediction. Half a row of the labels' shares is added to each.
func fitTable(_ context.Context, posteriors blas32.General, labels []int32) (calibrator, error) {
	shares, err := labelshift.Shares(labels, posteriors.Cols)
	if err != nil {
		return nil, err
	}
	const added = 0.5
	counts := dense.New(posteriors.Cols, posteriors.Cols)
	rows := make([]float32, posteriors.Cols)
	for i, y := range labels {
		j := dense.Argmax(dense.Row(posteriors, i))
		dense.Row(counts, j)[y]++
		rows[j]++
	}
	for j, n := range rows {
		row := dense.Row(counts, j)
		for k := range row {
			row[k] = (row[k] + added*float32(shares[k])) / (n + added)
		}
	}
	return table(counts), nil
}

// Apply is that of a calibrator.
func (t table) Apply(posteriors blas32.General) blas32.General {
	out := dense.New(posteriors.Rows, posteriors.Cols)
	for i := range out.Rows {
		copy(dense.Row(out, i), dense.Row(blas32.General(t), dense.Argmax(dense.Row(posteriors, i))))
	}
	return out
}
