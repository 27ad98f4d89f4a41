package labelshift

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/mte"
)

// Classes at 0 and 10 on the line; the target has moved by 2 and has twice as
// many rows of class 1. It comes in blocks.
func TestMatched(t *testing.T) {
	line := func(x ...float32) blas32.General {
		return blas32.General{Rows: len(x), Cols: 1, Stride: 1, Data: x}
	}
	blocks := func(yield func(blas32.General, error) bool) {
		_ = yield(line(11, 12, 2), nil) && yield(line(), nil) && yield(line(3, 12, 13), nil)
	}
	in := Inputs{Problem: mte.Problem{Source: line(0, 10, 1, 9), Labels: []int32{0, 1, 0, 1}, Target: blocks, Classes: 2}}
	r, err := Estimate(t.Context(), "marsc", in)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%.3f %v %v", r.Proportions, r.Matching.ClassOf, r.Clustering.Labels); got != "[0.333 0.667] [1 0] [0 0 1 1 0 0]" {
		t.Errorf("proportions, classes and components %s", got)
	}
}
