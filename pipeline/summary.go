package pipeline

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"mars.dev/mars/pipeline/internal/grid"
)

// grids are the tables that people read: one with a column for each number, or, if the
// values of an axis are the columns, one for each number.
func (t *Results) grids(spec *Table) []grid.Grid {
	over := spec.Over
	if over == nil {
		over = []string{seedAxis}
	}
	s := &summary{Results: t, numbers: t.shown(spec.Show)}
	for _, axis := range t.Axes {
		if !slices.Contains(over, axis) && axis != spec.Columns {
			s.axes = append(s.axes, axis)
		}
	}
	if spec.Columns == "" {
		return []grid.Grid{s.flat()}
	}
	var all []grid.Grid
	for _, name := range s.numbers {
		all = append(all, s.wide(name, spec.Columns))
	}
	return all
}

// shown are the columns that names stand for, all if there are none.
func (t *Results) shown(names []string) []string {
	if names == nil {
		return t.Columns
	}
	var columns []string
	for _, name := range names {
		for _, c := range t.Columns {
			if (c == name || strings.HasPrefix(c, name+".")) && !slices.Contains(columns, c) {
				columns = append(columns, c)
			}
		}
	}
	return columns
}

// A summary takes means of results.
type summary struct {
	*Results
	axes    []string // that tell its rows apart
	numbers []string
}

// flat has a row for each combination of the axes, and a column for each number.
func (s *summary) flat() grid.Grid {
	groups := s.groups(s.axes)
	g := grid.Grid{Head: append(slices.Clone(s.axes), "runs")}
	for _, rows := range groups {
		g.Rows = append(g.Rows, append(s.values(rows[0], s.axes), strconv.Itoa(len(rows)-failures(rows))))
	}
	if s.failed() {
		g.Head = append(g.Head, "failed")
		for i, rows := range groups {
			g.Rows[i] = append(g.Rows[i], strconv.Itoa(failures(rows)))
		}
	}
	for _, name := range s.numbers {
		g.Head = append(g.Head, name)
		var means []grid.Mean
		for _, rows := range groups {
			means = append(means, meanOf(rows, name))
		}
		for i, text := range grid.Texts(means) {
			g.Rows[i] = append(g.Rows[i], text)
		}
	}
	return g
}

// wide has the means of one number: a row for each combination of the axes, and a
// column for each value of another axis.
func (s *summary) wide(number, axis string) grid.Grid {
	columns := s.groups([]string{axis})
	g := grid.Grid{Head: slices.Clone(s.axes)}
	for _, rows := range columns {
		g.Head = append(g.Head, s.values(rows[0], []string{axis})...)
	}
	var means []grid.Mean
	for _, rows := range s.groups(s.axes) {
		g.Rows = append(g.Rows, s.values(rows[0], s.axes))
		for _, column := range columns {
			means = append(means, meanOf(both(rows, column), number))
		}
	}
	for i, text := range grid.Texts(means) {
		row := &g.Rows[i/len(columns)]
		*row = append(*row, text)
	}
	g.Title = number + ofRuns(means)
	return g
}

// both are the rows that are in a and in b, which are in the order of the runs.
func both(a, b []*ResultRow) []*ResultRow {
	var found []*ResultRow
	for _, row := range a {
		if slices.Contains(b, row) {
			found = append(found, row)
		}
	}
	return found
}

// values are a row's, of some axes.
func (t *Results) values(row *ResultRow, axes []string) []string {
	values := []string{}
	for i, axis := range t.Axes {
		if slices.Contains(axes, axis) {
			values = append(values, row.Values[i])
		}
	}
	return values
}

// groups are the rows, those together that have the same values of the axes.
func (t *Results) groups(axes []string) [][]*ResultRow {
	var groups [][]*ResultRow
	at := map[string]int{}
	for i := range t.Rows {
		row := &t.Rows[i]
		key := joinKey(t.values(row, axes))
		g, known := at[key]
		if !known {
			g, at[key] = len(groups), len(groups)
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], row)
	}
	return groups
}

func failures(rows []*ResultRow) (n int) {
	for _, row := range rows {
		if row.Error != "" {
			n++
		}
	}
	return n
}

// meanOf is that of a number over some runs.
func meanOf(rows []*ResultRow, name string) grid.Mean {
	var values []float64
	for _, row := range rows {
		if v, ok := row.Numbers[name]; ok {
			values = append(values, v)
		}
	}
	return grid.MeanOf(values)
}

// ofRuns says what the means are of, if some are of several different runs.
func ofRuns(means []grid.Mean) string {
	least, greatest, vary := math.MaxInt, 0, false
	for _, m := range means {
		if m.Runs > 0 {
			least, greatest = min(least, m.Runs), max(greatest, m.Runs)
		}
		vary = vary || m.Deviation > 0
	}
	if !vary {
		return ""
	}
	return grid.OfRuns(least, greatest)
}
