package tables

import (
	"fmt"
	"math"
	"testing"

	"mars.dev/mars/arrowio"
)

// Rows are those of the columns, wherever they are, and a value that is not finite is seen wherever
// it is: in few rows and in many, in columns of one number each and in lists.
func TestFillRowsSeesWhatIsNotFinite(t *testing.T) {
	for _, n := range []int{1, 100, 30000} {
		for name, widths := range map[string][]int{"numbers": {1, 1, 1, 1, 1}, "a list": {5}, "both": {2, 1, 1, 1}} {
			for _, odd := range []float32{0, float32(math.NaN()), float32(math.Inf(1))} {
				t.Run(fmt.Sprintf("%d rows of %s, %v", n, name, odd), func(t *testing.T) {
					const width = 5
					var columns []arrowio.Vectors
					for at, k := 0, 0; k < len(widths); at, k = at+widths[k], k+1 {
						v := arrowio.Vectors{Rows: n, Width: widths[k], Data: make([]float32, n*widths[k])}
						for i := range v.Data {
							v.Data[i] = float32(i/v.Width*width + at + i%v.Width)
						}
						columns = append(columns, v)
					}
					last := columns[len(columns)-1].Data
					if odd != 0 {
						last[len(last)-1] = odd
					}
					data := make([]float32, n*width)
					rows := make([]int, n)
					for i := range rows {
						rows[i] = i
					}
					if finite := fillRows(data, columns, rows, width); finite != (odd == 0) {
						t.Errorf("finite is %v", finite)
					}
					for i, v := range data[:len(data)-1] {
						if v != float32(i) {
							t.Fatalf("value %d is %v", i, v)
						}
					}
				})
			}
		}
	}
}
