package dense

import (
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
)

// lent holds the memory of Borrow64. To clear new memory for every block of rows takes
// longer than many a computation with the block.
var lent = sync.Pool{New: func() any { return new([]float64) }}

// Borrow64 returns a rows×cols matrix with arbitrary values, and the function that gives
// its memory back.
func Borrow64(rows, cols int) (m blas64.General, giveBack func()) {
	data := lent.Get().(*[]float64)
	*data = slices.Grow((*data)[:0], rows*cols)[:rows*cols]
	return blas64.General{Rows: rows, Cols: cols, Stride: max(1, cols), Data: *data}, func() { lent.Put(data) }
}
