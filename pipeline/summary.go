package pipeline

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// grids are the tables that people read: one with a column for each number, or, if the
// values of an axis are the columns, one for each number.
func (t *Results) grids(spec *Table) ([]grid, error) {
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
		return []grid{s.flat()}, nil
	}
	var all []grid
	for _, name := range s.numbers {
		all = append(all, s.wide(name, spec.Columns))
	}
	return all, nil
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
func (s *summary) flat() grid {
	groups := s.groups(s.axes)
	g := grid{head: append(slices.Clone(s.axes), "runs")}
	for _, rows := range groups {
		g.rows = append(g.rows, append(s.values(rows[0], s.axes), strconv.Itoa(len(rows)-failures(rows))))
	}
	if s.failed() {
		g.head = append(g.head, "failed")
		for i, rows := range groups {
			g.rows[i] = append(g.rows[i], strconv.Itoa(failures(rows)))
		}
	}
	for _, name := range s.numbers {
		g.head = append(g.head, name)
		var means []mean
		for _, rows := range groups {
			means = append(means, newMean(rows, name))
		}
		for i, text := range texts(means) {
			g.rows[i] = append(g.rows[i], text)
		}
	}
	return g
}

// wide has the means of one number: a row for each combination of the axes, and a
// column for each value of another axis.
func (s *summary) wide(number, axis string) grid {
	columns := s.groups([]string{axis})
	g := grid{head: slices.Clone(s.axes)}
	for _, rows := range columns {
		g.head = append(g.head, s.values(rows[0], []string{axis})...)
	}
	var means []mean
	for _, rows := range s.groups(s.axes) {
		g.rows = append(g.rows, s.values(rows[0], s.axes))
		for _, column := range columns {
			means = append(means, newMean(both(rows, column), number))
		}
	}
	for i, text := range texts(means) {
		row := &g.rows[i/len(columns)]
		*row = append(*row, text)
	}
	g.title = number + ofRuns(means)
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

// A mean is that of a number over some runs.
type mean struct {
	value, deviation float64 // of one run the deviation is 0
	runs             int     // that have the number
}

// rounding is the relative error of a mean of equal numbers.
const rounding = 1e-12

func newMean(rows []*ResultRow, name string) (m mean) {
	var values []float64
	for _, row := range rows {
		if v, ok := row.Numbers[name]; ok {
			values = append(values, v)
			m.value += v
		}
	}
	m.runs = len(values)
	if m.runs == 0 {
		return m
	}
	m.value /= float64(m.runs)
	squares := 0.0
	for _, v := range values {
		squares += (v - m.value) * (v - m.value)
	}
	m.deviation = math.Sqrt(squares / max(1, float64(m.runs-1)))
	if m.deviation <= rounding*math.Abs(m.value) {
		m.deviation = 0
	}
	return m
}

// texts writes means that stand together with the same number of decimals.
func texts(means []mean) []string {
	decimals := decimalsFor(means)
	all := make([]string, len(means))
	for i, m := range means {
		switch {
		case m.runs == 0:
		case m.deviation > 0:
			all[i] = fmt.Sprintf("%.*f ± %.*f", decimals, m.value, decimals, m.deviation)
		default:
			all[i] = strconv.FormatFloat(m.value, 'f', decimals, 64)
		}
	}
	return all
}

// minDecimals is how many decimals people give of a share.
const minDecimals = 3

// decimalsFor is 3 for numbers below 10, so many less for greater ones that four digits
// are left, and so many more that three are if all are below 0.001. Whole numbers have
// none.
func decimalsFor(means []mean) int {
	greatest, whole := 0.0, true
	for _, m := range means {
		greatest = max(greatest, math.Abs(m.value), m.deviation)
		whole = whole && m.value == math.Trunc(m.value) && m.deviation == 0
	}
	if whole {
		return 0
	}
	switch exponent := int(math.Floor(math.Log10(greatest))); {
	case exponent > 0:
		return max(0, minDecimals-exponent)
	case exponent < -minDecimals:
		return minDecimals - 1 - exponent
	}
	return minDecimals
}

// ofRuns says what the means are of, if some are of several different runs.
func ofRuns(means []mean) string {
	least, greatest, vary := math.MaxInt, 0, false
	for _, m := range means {
		if m.runs > 0 {
			least, greatest = min(least, m.runs), max(greatest, m.runs)
		}
		vary = vary || m.deviation > 0
	}
	switch {
	case !vary:
		return ""
	case least == greatest:
		return fmt.Sprintf(", mean ± standard deviation of %d runs", greatest)
	}
	return fmt.Sprintf(", mean ± standard deviation of %d to %d runs", least, greatest)
}
