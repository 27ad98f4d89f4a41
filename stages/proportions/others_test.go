package proportions

import (
	"slices"
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
