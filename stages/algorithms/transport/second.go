package transport

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// SecondBest returns the second-best assignment of cost (n×m, n <= m), the best
// of those that differ from Assign's in at least one row. margin is its cost
// minus that of the best, 0 if several are best. If several are second best,
// the choice is arbitrary but always the same. If there is only one possible
// assignment (1×1), rowToCol is nil and the margin +Inf.
//
// An assignment differs from the best one along an alternating cycle, or along
// a path to a free column, and costs more by its length in reduced costs.
// SecondBest finds the shortest cycle or path through each row, so it takes
// O(n²m) time as Assign does. Errors are those of Assign.
func SecondBest(ctx context.Context, cost *mat.Dense) (rowToCol []int, margin float64, err error) {
	m, err := newMatcher(ctx, cost)
	if err != nil {
		return nil, 0, err
	}
	margin, first := math.Inf(1), -1
	for row := range m.rows {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
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

// Margin returns only the margin of SecondBest.
func Margin(ctx context.Context, cost *mat.Dense) (float64, error) {
	_, margin, err := SecondBest(ctx, cost)
	return margin, err
}

// Excess returns how much more the assignment rowToCol of cost (n×m) costs than
// the best one. It is 0, up to rounding, if and only if the pairs are cyclically
// monotone: no permutation of them costs less (Proposition 1 of the paper).
// Errors are those of Assign. It panics unless rowToCol has n columns.
func Excess(ctx context.Context, cost *mat.Dense, rowToCol []int) (float64, error) {
	_, best, err := Assign(ctx, cost)
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

// detour returns how much the total rises if row may not keep its column. This
// is the length of the shortest path from row back to its column, or to a free
// column. end is the column where the path ends, −1 if no path is shorter than
// limit. The dual of a free column is 0, and that of the column that row leaves
// is at most 0, so a path to a free column costs −v of that column more.
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

// exchange returns the assignment along the path from row to the column end
// that detour has just found.
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
