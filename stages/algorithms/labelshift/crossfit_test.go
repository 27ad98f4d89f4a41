package labelshift

import (
	"context"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// Each source row has the posteriors of a classifier that did not see it, and the target
// the mean of all: here classifiers that know by heart how often they saw a row.
func TestCrossFit(t *testing.T) {
	source, target := dense.New(12, 1), dense.New(2, 1)
	labels := make([]int32, 12)
	for i := range labels {
		source.Data[i], labels[i] = float32(i), int32(i%2)
	}
	source.Data[11] = source.Data[9] // of the same class, in another fold
	target.Data[0], target.Data[1] = 0, 100
	train := func(_ context.Context, x blas32.General, labels []int32) (Posterior, error) {
		return func(rows blas32.General) (blas32.General, error) {
			p := dense.New(rows.Rows, 2)
			for i, v := range rows.Data {
				p.Data[2*i] = 1
				for _, known := range x.Data {
					if v == known {
						p.Data[2*i], p.Data[2*i+1] = 0, 1
					}
				}
			}
			return p, nil
		}, nil
	}
	s, u, err := CrossFit(t.Context(), source, labels, 2, target, train)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 12 {
		if seen := s.Data[2*i+1] != 0; seen != (i == 9 || i == 11) {
			t.Errorf("row %d: the classifier has seen it: %v", i, seen)
		}
	}
	if got := u.Data[1]; got < 0.79 || got > 0.81 || u.Data[3] != 0 { // four of five classifiers
		t.Errorf("target rows that four and no classifier saw have %v", u.Data)
	}
	if _, _, err := CrossFit(t.Context(), dense.Rows(source, 0, 3), labels[:3], 2, target, train); err == nil {
		t.Error("a class of one row is cross-fitted")
	}
}
