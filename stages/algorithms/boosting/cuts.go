package boosting

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// maxBins is how many bins of values a column can have; one more is that of missing values.
const maxBins = 255

// Cuts are the thresholds that trees may have: for each column some rising values. A value v is in
// the bin of the first cut c with v ≤ c, or in the last.
type Cuts [][]float32

// Quantiles returns cuts that part the rows of all tables (n×d each) into bins, from 2 to 255, of
// about as many rows each. A column of fewer values has a cut between any two. Missing values (NaN)
// are passed over.
func Quantiles(bins int, tables ...blas32.General) Cuts {
	cuts := make(Cuts, tables[0].Cols)
	kernel.Parallel(len(cuts), 1, func(lo, hi int) {
		for j := lo; j < hi; j++ {
			cuts[j] = quantilesOf(column(j, tables), bins)
		}
	})
	return cuts
}

// column returns the values of column j that are not missing, in rising order.
func column(j int, tables []blas32.General) []float32 {
	var values []float32
	for _, x := range tables {
		for i := range x.Rows {
			if v := x.Data[i*x.Stride+j]; v == v {
				values = append(values, v)
			}
		}
	}
	slices.Sort(values)
	return values
}

// quantilesOf returns the cuts of rising values. It goes through the distinct values, and closes a
// bin when it has its share of the rows that are left.
func quantilesOf(values []float32, bins int) []float32 {
	var cuts []float32
	few := distinctUpTo(values, bins)
	for begin := 0; ; {
		end := begin + 1
		if !few {
			end = begin + max(1, (len(values)-begin)/(bins-len(cuts)))
		}
		for end < len(values) && values[end] == values[end-1] {
			end++
		}
		if end >= len(values) || len(cuts) == bins-1 {
			return cuts
		}
		cuts = append(cuts, between(values[end-1], values[end]))
		begin = end
	}
}

// distinctUpTo reports whether rising values are at most n different ones.
func distinctUpTo(values []float32, n int) bool {
	for i, v := range values {
		if i == 0 || v != values[i-1] {
			n--
		}
		if n < 0 {
			return false
		}
	}
	return true
}

// between is a value v with a ≤ v < b: the mean, if it is one.
func between(a, b float32) float32 {
	if v := float32((float64(a) + float64(b)) / 2); v < b {
		return v
	}
	return a
}

// bin is the bin of a value that is not missing. It is searched for without a branch on the value,
// which would be guessed wrong half of the time.
func (c Cuts) bin(j int, v float32) (bin int) {
	cuts := c[j]
	for n := len(cuts); n > 0; { // it is one of bin to bin+n
		half := (n + 1) / 2
		next := bin
		if cuts[bin+half-1] < v {
			next = bin + half
		}
		bin, n = next, n-half
	}
	return bin
}

// binned are rows with the numbers of bins in place of values, column by column.
type binned struct {
	cuts    Cuts
	rows    int
	columns [][]uint8
	// starts are the places of the columns' bins in a histogram, and its length. The last bin of
	// each is that of missing values.
	starts []int
}

// apply bins the rows of x (n×d).
func (c Cuts) apply(x blas32.General) *binned {
	b := &binned{cuts: c, rows: x.Rows, columns: make([][]uint8, len(c)), starts: []int{0}}
	for j, cuts := range c {
		b.starts = append(b.starts, b.starts[j]+len(cuts)+2)
	}
	kernel.Parallel(len(c), 1, func(lo, hi int) {
		for j := lo; j < hi; j++ {
			b.columns[j] = make([]uint8, x.Rows)
			for i := range b.columns[j] {
				b.columns[j][i] = c.code(j, x.Data[i*x.Stride+j])
			}
		}
	})
	return b
}

// code is the number of a value's bin in the histogram of its column.
func (c Cuts) code(j int, v float32) uint8 {
	if v != v {
		return uint8(len(c[j]) + 1)
	}
	return uint8(c.bin(j, v))
}

// threshold is what values of the bins up to b are at most. After the last bin it is above all.
func (c Cuts) threshold(j, b int) float32 {
	if b == len(c[j]) {
		return math.MaxFloat32
	}
	return c[j][b]
}
