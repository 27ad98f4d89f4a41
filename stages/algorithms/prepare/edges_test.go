package prepare

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
)

// tableOf has a column for each function of the row.
func tableOf(rows int, columns ...func(i int) float32) blas32.General {
	x := blas32.General{Rows: rows, Cols: len(columns), Stride: len(columns)}
	for i := range rows {
		for _, f := range columns {
			x.Data = append(x.Data, f(i))
		}
	}
	return x
}

// Copies of columns of few values are left out of as many columns as are no principal components, but columns that only begin with
// few values are none.
func TestCopiesOfColumns(t *testing.T) {
	code := func(i int) float32 { return float32(i * i % 7) }
	scaled := func(i int) float32 { return 3*code(i) - 1 }
	late := func(by int) func(i int) float32 { // few values in the rows that are counted, and then many
		return func(i int) float32 {
			if i < countedRows {
				return float32(i % (2 + by))
			}
			return float32(i * by)
		}
	}
	all := func(n int) (columns []int) {
		for j := range n {
			columns = append(columns, j)
		}
		return columns
	}
	if got := distinct(tableOf(2*countedRows, late(1), late(2), code, scaled), all(4)); !slices.Equal(got, all(3)) {
		t.Errorf("of two that begin with few values, a code and its copy there are %v", got)
	}
	for _, n := range []int{maxAxes, maxAxes + 1} {
		columns := slices.Repeat([]func(int) float32{code}, n)
		want := 1
		if n > maxAxes {
			want = n
		}
		if got := distinct(tableOf(40, columns...), all(n)); len(got) != want {
			t.Errorf("of %d copies there are %d", n, len(got))
		}
	}
}

// Counts are sparse if they are more than a few columns, and more than half of them are 0.
func TestSparse(t *testing.T) {
	for _, tc := range []struct {
		columns, zeros int // of so many columns that many are 0, in each row
		want           bool
	}{
		{sparseWidth, sparseWidth, false},
		{sparseWidth + 2, sparseWidth + 2, true},
		{sparseWidth + 2, (sparseWidth + 2) / 2, false},
		{sparseWidth + 2, (sparseWidth+2)/2 + 1, true},
	} {
		x := blas32.General{Rows: 3, Cols: tc.columns, Stride: tc.columns, Data: make([]float32, 3*tc.columns)}
		var kept []int
		for j := range tc.columns {
			kept = append(kept, j)
			for i := range x.Rows {
				if j >= tc.zeros {
					x.Data[i*x.Stride+j] = 1
				}
			}
		}
		if got := sparse(x, kept); got != tc.want {
			t.Errorf("%d columns, of which %d are 0: %v", tc.columns, tc.zeros, got)
		}
		x.Data[0] = -1
		if sparse(x, kept) {
			t.Error("a number below 0 is a count")
		}
	}
}

// As many columns as there may be components stay as they are.
func TestAsManyColumnsAsComponents(t *testing.T) {
	for columns, components := range map[int]bool{maxAxes: false, maxAxes + 1: true} {
		var all []func(int) float32
		for j := range columns {
			all = append(all, func(i int) float32 { return float32((i*(j+3) + j*j) % 211) })
		}
		if p := mustFit(t, tableOf(250, all...)); (p.Axes != nil) != components || len(p.Kept) != columns {
			t.Errorf("of %d columns %d are kept, and there are components: %v", columns, len(p.Kept), p.Axes != nil)
		}
	}
}
