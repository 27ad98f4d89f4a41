package proportions

import (
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/mte"
)

// A sample is even, whatever the blocks, and not larger than asked for.
func TestEvenly(t *testing.T) {
	for rows, want := range map[int][]float32{
		3: {0, 1, 2}, 4: {0, 1, 2, 3}, 5: {0, 2, 4}, 9: {0, 4, 8}, 16: {0, 4, 8, 12},
	} {
		for _, size := range []int{1, 2, 5, 16} {
			x, err := evenly(blocks(rows, size), 4)
			if err != nil || !slices.Equal(x.Data, want) || x.Rows != len(want) {
				t.Errorf("%d rows in blocks of %d: %v, %v", rows, size, x, err)
			}
		}
	}
}

// blocks are rows 0, 1, … of one column.
func blocks(rows, size int) mte.Blocks {
	return func(yield func(blas32.General, error) bool) {
		for lo := 0; lo < rows; lo += size {
			var data []float32
			for i := lo; i < min(lo+size, rows); i++ {
				data = append(data, float32(i))
			}
			if !yield(blas32.General{Rows: len(data), Cols: 1, Stride: 1, Data: data}, nil) {
				return
			}
		}
	}
}

// The four sentences.
func TestVerdict(t *testing.T) {
	for _, test := range []struct {
		expectedError float64
		warned        bool
		want          string
	}{
		{0.3, false, "Do not believe these proportions yet: about 15 of 100 rows"},
		{0.15, false, "Believe these proportions with care: about 8 of 100 rows are expected to be counted for a wrong class (L1 error 0.15)."},
		{0.05, true, "Believe these proportions with care, because of the warnings"},
		{0.05, false, "These proportions can be believed: about 3 of 100 rows"},
		{0.009, false, "These proportions can be believed: less than 1 of 100 rows"},
	} {
		if got, advice := verdict(test.expectedError, test.warned); advice == "" || !strings.HasPrefix(got, test.want) {
			t.Errorf("%v: %s", test, got)
		}
	}
}

// Two distributions are 0 to 2 apart.
func TestDistance(t *testing.T) {
	for want, p := range map[float64][]float64{0: {0.25, 0.75}, 0.5: {0.5, 0.5}, 1.5: {1, 0}} {
		if got := distance(p, []float64{0.25, 0.75}); got != want {
			t.Errorf("%v is %g away, want %g", p, got, want)
		}
	}
}

// The rows of the classes add up to those of the target.
func TestCounts(t *testing.T) {
	for _, test := range []struct {
		rows   int
		shares []float64
		want   []float64
	}{
		{500, []float64{0.0905, 0.2088, 0.7007}, []float64{45, 105, 350}},
		{200, []float64{0.3324, 0.3296, 0.338}, []float64{66, 66, 68}},
		{1, []float64{0.5, 0.5}, []float64{1, 0}},
		{10, []float64{0, 1}, []float64{0, 10}},
		{3, []float64{0.3333, 0.3333, 0.3333}, []float64{1, 1, 1}},
	} {
		r := &Report{Classes: make([]string, len(test.shares)), TargetRows: test.rows}
		r.Proportions.Estimated = test.shares
		if got := r.counts(); !slices.Equal(got, test.want) {
			t.Errorf("%d rows by %v: %v, want %v", test.rows, test.shares, got, test.want)
		}
	}
}
