package hedge

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// What is drawn at random is drawn by numbers of rows and columns. So that an answer does not
// depend on the order in which they come, they are first given one of their own: rows by a hash
// of what they hold, and columns by their names.

// rowOrder returns the numbers of the rows in that order, of which columns are looked at in theirs.
// labels may be nil.
func rowOrder(x blas32.General, columns []int, labels []int32, seed uint64) []int {
	hashes, order := make([]uint64, x.Rows), make([]int, x.Rows)
	for i := range order {
		h := mixed(seed)
		if labels != nil {
			h = mixed(h ^ uint64(labels[i]))
		}
		row := dense.Row(x, i)
		for _, j := range columns {
			h = mixed(h ^ uint64(math.Float32bits(row[j]+0))) // −0 is 0
		}
		order[i], hashes[i] = i, h
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(hashes[a], hashes[b]) })
	return order
}

// mixed is the output function of SplitMix64 (Steele, Lea & Flood 2014).
func mixed(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// columnOrder returns the numbers of d columns by their names, or as they are if names is nil; those of numbers by their
// numbers: pc2 comes before pc10, so that principal components stay in their order.
func columnOrder(names []string, d int) []int {
	order := make([]int, d)
	for j := range order {
		order[j] = j
	}
	if names == nil {
		return order
	}
	slices.SortStableFunc(order, func(a, b int) int { return compareNames(names[a], names[b]) })
	return order
}

func compareNames(a, b string) int {
	for a != "" && b != "" {
		m, n := digits(a), digits(b)
		if m > 0 && n > 0 {
			x, _ := strconv.ParseFloat(a[:m], 64)
			y, _ := strconv.ParseFloat(b[:n], 64)
			if x != y {
				return cmp.Compare(x, y)
			}
			a, b = a[m:], b[n:]
			continue
		}
		if a[0] != b[0] {
			break
		}
		a, b = a[1:], b[1:]
	}
	return strings.Compare(a, b)
}

// digits is the number of digits that the text begins with.
func digits(text string) int {
	return len(text) - len(strings.TrimLeft(text, "0123456789"))
}

// columnsOf copies columns of x in an order.
func columnsOf(x blas32.General, order []int) blas32.General {
	y := dense.New(x.Rows, len(order))
	for i := range x.Rows {
		row, out := dense.Row(x, i), dense.Row(y, i)
		for k, j := range order {
			out[k] = row[j]
		}
	}
	return y
}
