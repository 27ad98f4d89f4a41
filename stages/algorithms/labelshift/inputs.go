package labelshift

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/classes"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/mte"
)

// Inputs are what estimators work on; each looks at what it needs.
type Inputs struct {
	mte.Problem // Labels and Classes for all; rows for the estimators of rows

	// Of a classifier that was not trained on these source rows: n_S×C, n_T×C.
	SourcePosteriors, TargetPosteriors blas32.General
	// Calibration of posteriors before em; nil leaves them as they are.
	Calibration *Calibration

	// Known is p_T where others have found it, or nil.
	Known []float64
	// Before is the p_T that weights the classes now, which iw-wd starts from;
	// nil is p_S.
	Before []float64

	Train   Classifier // for refit and auto
	Cluster Cluster    // for marsc and marsg in the place of their own; nil for that

	Interval IntervalOptions // for auto
	Seed     uint64          // of samples, starts and replicates
}

// Posterior returns the n×C class posteriors of the n rows of x.
type Posterior func(x blas32.General) (blas32.General, error)

// Classifier trains on the rows of x (n×d) with their labels. Labels of every
// class up to the greatest occur.
type Classifier func(ctx context.Context, x blas32.General, labels []int32) (Posterior, error)

// Shares returns p_S, the share of each class among the labels. It fails at a
// label outside 0 to classes−1 and if there are no labels.
func Shares(labels []int32, c int) ([]float64, error) {
	counts, err := classes.Count(labels, c)
	if err != nil {
		return nil, fmt.Errorf("labelshift: %w", err)
	}
	shares := make([]float64, c)
	for k, n := range counts {
		shares[k] = float64(n) / float64(len(labels))
	}
	return shares, nil
}

// targetRows returns all rows of the target, in one piece.
func (in *Inputs) targetRows() (blas32.General, error) {
	var x blas32.General
	for block, err := range in.Target {
		switch {
		case err != nil:
			return x, fmt.Errorf("labelshift: reading the target: %w", err)
		case x.Rows == 0:
			x = block
			if block.Stride != block.Cols {
				x = dense.Clone(block)
			}
			x.Data = x.Data[: x.Rows*x.Cols : x.Rows*x.Cols] // the next block is put behind a copy
			continue
		}
		for i := range block.Rows {
			dense.Append(&x, dense.Row(block, i))
		}
	}
	if x.Rows == 0 {
		return x, errors.New("labelshift: there are no target rows: give unlabelled rows")
	}
	return x, nil
}
