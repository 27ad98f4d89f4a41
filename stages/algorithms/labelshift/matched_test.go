package labelshift

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars/stages/algorithms/mixture"
)

// Classes at 0 and 10 on the line; the target has moved by 2 and has twice as
// many rows of class 1.
func TestMatched(t *testing.T) {
	line := func(x ...float32) blas32.General {
		return blas32.General{Rows: len(x), Cols: 1, Stride: 1, Data: x}
	}
	ward := func(x blas32.General, k int) (*mixture.Result, error) {
		return mixture.Ward(t.Context(), x, k, mixture.WardOptions{})
	}
	m, err := Matched(line(0, 10, 1, 9), []int32{0, 1, 0, 1}, line(11, 12, 2, 3, 12, 13), 2, ward)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%.3f %v", m.Proportions, m.ClassOf); got != "[0.333 0.667] [1 0]" {
		t.Errorf("proportions and classes %s", got)
	}
}
