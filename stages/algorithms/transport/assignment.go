package transport

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Assign gives each row of cost (n×m, n <= m) its own column so that the total
// cost is least: the paper's optimal assignment of classes to components. It
// returns the column of each row and the total. If several assignments are
// best, the choice is arbitrary but always the same.
//
// The algorithm finds shortest augmenting paths (Jonker & Volgenant 1987,
// Crouse 2016) in O(n²m) time; 1,000 rows and columns take well under a second.
// It fails if there are more rows than columns or a cost is not finite, and
// returns ctx.Err() if ctx ends.
func Assign(ctx context.Context, cost *mat.Dense) (rowToCol []int, total float64, err error) {
	m, err := newMatcher(ctx, cost)
	if err != nil {
		return nil, 0, err
	}
	return m.rowToCol, m.total(), nil
}

// matcher holds a matching of rows to columns, with duals u and v that prove
// that it is best: cost(i, j) >= u[i] + v[j], with equality where i is matched
// with j; v[j] <= 0, and v[j] = 0 where j is free.
type matcher struct {
	rows, cols int
	cost       *mat.Dense
	rowToCol   []int
	colToRow   []int
	u, v       []float64
	// The state of a search: the length of the shortest path to each column so
	// far, the row before the column on that path, whether the path is final,
	// and the columns with a final path in order.
	length   []float64
	previous []int
	done     []bool
	scanned  []int
}

// newMatcher returns the best matching.
func newMatcher(ctx context.Context, cost *mat.Dense) (*matcher, error) {
	n, m := cost.Dims()
	if n > m {
		return nil, fmt.Errorf("transport: %d rows for %d columns: transpose the costs or use Exact", n, m)
	}
	if err := checkCost(cost); err != nil {
		return nil, err
	}
	a := &matcher{
		rows: n, cols: m, cost: cost,
		rowToCol: filled(n, -1), colToRow: filled(m, -1),
		u: make([]float64, n), v: make([]float64, m),
		length: make([]float64, m), previous: make([]int, m), done: make([]bool, m),
	}
	for row := range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		a.match(row)
	}
	return a, nil
}

// filled returns a slice of n values v.
func filled(n, v int) []int {
	x := make([]int, n)
	for i := range x {
		x[i] = v
	}
	return x
}

// match adds row to the matching along the shortest augmenting path.
func (a *matcher) match(row int) {
	sink := a.search(row)
	least := a.length[sink]
	a.u[row] += least
	for _, col := range a.scanned {
		slack := least - a.length[col]
		a.u[a.colToRow[col]] += slack
		a.v[col] -= slack
	}
	for col := sink; ; {
		i := a.previous[col]
		a.colToRow[col] = i
		col, a.rowToCol[i] = a.rowToCol[i], col
		if i == row {
			return
		}
	}
}

// search finds the shortest alternating paths from row in reduced costs
// (Dijkstra 1959) until it reaches a free column, which it returns. Then
// scanned holds the matched columns that are nearer.
func (a *matcher) search(row int) int {
	a.reset()
	for i, least := row, 0.0; ; {
		a.relax(i, least, -1)
		col := a.closest()
		if a.colToRow[col] < 0 {
			return col
		}
		a.done[col] = true
		a.scanned = append(a.scanned, col)
		i, least = a.colToRow[col], a.length[col]
	}
}

// reset clears the state of the last search.
func (a *matcher) reset() {
	for j := range a.length {
		a.length[j], a.done[j] = math.Inf(1), false
	}
	a.scanned = a.scanned[:0]
}

// relax shortens paths to columns, except forbidden, by going through row i,
// which has a path of length least.
func (a *matcher) relax(i int, least float64, forbidden int) {
	base := least - a.u[i]
	for j, c := range a.cost.RawRowView(i) {
		if r := base + c - a.v[j]; r < a.length[j] && !a.done[j] && j != forbidden {
			a.length[j], a.previous[j] = r, i
		}
	}
}

// closest returns the column with the shortest path that is not final, a free
// one at a tie, or −1 if there is none.
func (a *matcher) closest() int {
	best, least := -1, math.Inf(1)
	for j, r := range a.length {
		if r > least || a.done[j] {
			continue
		}
		if r < least || (best >= 0 && a.colToRow[j] < 0 && a.colToRow[best] >= 0) {
			best, least = j, r
		}
	}
	return best
}

// total returns the cost of the matching.
func (a *matcher) total() float64 {
	sum := 0.0
	for i, j := range a.rowToCol {
		sum += a.cost.At(i, j)
	}
	return sum
}
