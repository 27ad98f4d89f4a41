package transport

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// SecondBest returns the second-best assignment of cost (n×m, n <= m), that
// is, the best of those that differ from Assign's in at least one row, and its
// margin: by how much it costs more, 0 if there are several best ones. Of
// several second-best ones the choice is arbitrary but always the same. If
// there is only one assignment at all (1×1), rowToCol is nil and the margin
// +Inf.
//
// An assignment that differs from the best does so along an alternating cycle,
// or a path to a free column, whose length in reduced costs is what it costs
// more. SecondBest finds the shortest through each row, so it takes O(n²m)
// time as Assign does. It fails where Assign does.
func SecondBest(cost *mat.Dense) (rowToCol []int, margin float64, err error) {
	m, err := newMatcher(cost)
	if err != nil {
		return nil, 0, err
	}
	margin, first := math.Inf(1), -1
	for row := range m.rows {
		if length, end := m.detour(row, margin); end >= 0 {
			margin, first = length, row
		}
	}
	if first < 0 {
		return nil, margin, nil
	}
	_, end := m.detour(first, math.Inf(1))
	return m.exchange(first, end), max(margin, 0), nil
}

// Margin returns the margin of SecondBest alone.
func Margin(cost *mat.Dense) (float64, error) {
	_, margin, err := SecondBest(cost)
	return margin, err
}

// Excess returns by how much the assignment rowToCol of cost (n×m) costs more
// than the best. It is 0, up to rounding, if and only if the pairs are
// cyclically monotone: no permutation of them costs less (Proposition 1 of the
// paper). It fails where Assign does, and panics if rowToCol has not one
// column a row.
func Excess(cost *mat.Dense, rowToCol []int) (float64, error) {
	_, best, err := Assign(cost)
	if err != nil {
		return 0, err
	}
	if rows, _ := cost.Dims(); len(rowToCol) != rows {
		panic("transport: Excess: one column a row is needed")
	}
	total := 0.0
	for i, j := range rowToCol {
		total += cost.At(i, j)
	}
	return max(total-best, 0), nil
}

// detour returns by how much the total rises if row may not keep its column:
// the length of the shortest path from row back to its column, or to a free
// one, and the column where the path ends; −1 if none is shorter than limit.
// The dual of a free column is 0 and that of the column left is not, so that
// ending in a free one costs −v of the column left (at least 0) more.
func (a *matcher) detour(row int, limit float64) (length float64, end int) {
	own := a.rowToCol[row]
	a.reset()
	a.relax(row, 0, own)
	for end = -1; ; {
		col := a.closest()
		if col < 0 || a.length[col] >= limit {
			return limit, end
		}
		if col == own {
			return a.length[col], own
		}
		a.done[col] = true
		if i := a.colToRow[col]; i >= 0 {
			a.relax(i, a.length[col], -1)
		} else if free := a.length[col] - a.v[own]; free < limit {
			limit, end = free, col
		}
	}
}

// exchange returns the assignment along the path that detour has just found
// from row to the column end.
func (a *matcher) exchange(row, end int) []int {
	other := slices.Clone(a.rowToCol)
	for col := end; ; {
		i := a.previous[col]
		other[i] = col
		if i == row {
			return other
		}
		col = a.rowToCol[i]
	}
}
