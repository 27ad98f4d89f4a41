package compare

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"mars.dev/mars/arrowio/safetext"
	"mars.dev/mars/pipeline/internal/grid"
	"mars.dev/mars/tables/write"
)

// Formats are the names of what Write writes.
var Formats = []string{"text", "markdown", "latex", "csv", "json"}

// Write writes the comparison in a format: tables for people, or one row for each setting
// and method (csv), or all (json).
func (c *Comparison) Write(w io.Writer, format string) error {
	switch format {
	case "text":
		return grid.WriteText(w, c.grids())
	case "markdown":
		return grid.WriteMarkdown(w, c.grids())
	case "latex":
		return grid.WriteLaTeX(w, c.grids())
	case "csv":
		return c.writeCSV(w)
	case "json":
		return write.Object(w, c)
	}
	return fmt.Errorf("format: %q is not known: choose %s", format, strings.Join(Formats, ", "))
}

func (c *Comparison) grids() []grid.Grid {
	grids := []grid.Grid{c.table()}
	if g, ok := c.rankGrid(); ok {
		grids = append(grids, g)
	}
	if g, ok := c.pairGrid(); ok {
		grids = append(grids, g)
	}
	return grids
}

// table has a row for each setting and a column for each method.
func (c *Comparison) table() grid.Grid {
	g := grid.Grid{Head: append(slices.Clone(c.Columns), c.Methods...), Notes: c.Notes}
	var means []grid.Mean
	least, greatest := math.MaxInt, 0
	for _, s := range c.Settings {
		for _, r := range s.Results {
			means = append(means, grid.Mean{Value: r.Mean, Deviation: r.Deviation, Runs: r.Runs})
			if r.Runs > 0 {
				least, greatest = min(least, r.Runs), max(greatest, r.Runs)
			}
		}
	}
	texts := grid.Texts(means)
	if len(c.Columns) == 0 {
		g.Head = append([]string{""}, c.Methods...)
	}
	width := len(g.Head) - len(c.Methods)
	for i, s := range c.Settings {
		row := slices.Clone(s.Values)
		if width > len(row) {
			row = append(row, c.Number)
		}
		g.Rows = append(g.Rows, append(row, texts[i*len(c.Methods):][:len(c.Methods)]...))
	}
	g.Strong = func(i, j int) bool { return i < len(c.Settings) && j >= width && c.Settings[i].Results[j-width].Best }
	of := ""
	if greatest > 1 {
		of = grid.OfRuns(least, greatest)
	}
	g.Title = c.Number + of + "; marked: the best, and all that are not significantly worse (signed-rank test at " + short(c.Level) + ")"
	foot := func(name string, cells []string) {
		g.Rows = append(g.Rows, append(append([]string{name}, make([]string, width-1)...), cells...))
	}
	if len(c.Settings) > 1 {
		if c.Means != nil {
			means := make([]*float64, len(c.Means))
			for m := range means {
				means[m] = &c.Means[m]
			}
			foot("mean", together(means))
			foot("mean rank", decimals(c.Ranks, 2))
		}
		wins := make([]string, len(c.Wins))
		for m, n := range c.Wins {
			wins[m] = strconv.Itoa(n)
		}
		foot(fmt.Sprintf("wins of %d", len(c.Settings)), wins)
	}
	for _, o := range c.Others {
		foot(o.Name, together(o.Means))
	}
	return g
}

// together writes numbers that stand together; nil is empty.
func together(values []*float64) []string {
	means := make([]grid.Mean, len(values))
	for i, v := range values {
		if v != nil {
			means[i] = grid.Mean{Value: *v, Runs: 1}
		}
	}
	return grid.Texts(means)
}

func decimals(values []float64, n int) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = strconv.FormatFloat(v, 'f', n, 64)
	}
	return all
}

// ByRank are the methods in the order of their mean ranks, which there are.
func (c *Comparison) ByRank() []int {
	order := make([]int, len(c.Methods))
	for m := range order {
		order[m] = m
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.Ranks[a], c.Ranks[b]) })
	return order
}

// rankGrid has the methods by their ranks, and those together that the critical difference
// cannot tell apart.
func (c *Comparison) rankGrid() (g grid.Grid, ok bool) {
	if c.Friedman == nil {
		return g, false
	}
	differ := "does not say that any differ"
	if c.Friedman.PF < c.Level {
		differ = "says that some differ"
	}
	n := 0
	for _, s := range c.Settings {
		if s.Results[0].Rank > 0 {
			n++
		}
	}
	g.Title = fmt.Sprintf("Mean ranks over %d settings. Friedman's test %s: p = %s (Iman and Davenport: %s). Ranks differ if they are %.2f apart (Nemenyi, %s).",
		n, differ, short(c.Friedman.P), short(c.Friedman.PF), c.Friedman.CriticalDifference, short(c.Level))
	g.Head = []string{"rank", "method", "not told apart from"}
	order := c.ByRank()
	for _, m := range order {
		var alike []string
		for _, other := range order {
			if d := c.Ranks[m] - c.Ranks[other]; other != m && max(d, -d) < c.Friedman.CriticalDifference {
				alike = append(alike, c.Methods[other])
			}
		}
		g.Rows = append(g.Rows, []string{strconv.FormatFloat(c.Ranks[m], 'f', 2, 64), c.Methods[m], strings.Join(alike, ", ")})
	}
	return g, true
}

// pairGrid has the signed-rank tests.
func (c *Comparison) pairGrid() (g grid.Grid, ok bool) {
	if len(c.Pairs) == 0 {
		return g, false
	}
	g.Title = fmt.Sprintf("Signed-rank tests over %s, corrected for being %d (Holm); marked: significant at %s", c.PairedBy, len(c.Pairs), short(c.Level))
	if len(c.Pairs) == 1 {
		g.Title = fmt.Sprintf("Signed-rank test over %s; marked: significant at %s", c.PairedBy, short(c.Level))
	}
	g.Head = []string{"first", "second", "first is better", "worse", "equal", "p", "corrected"}
	for _, p := range c.Pairs {
		g.Rows = append(g.Rows, []string{p.First, p.Second, strconv.Itoa(p.Better), strconv.Itoa(p.Worse), strconv.Itoa(p.Equal), short(p.P), short(p.Corrected)})
	}
	last := len(g.Head) - 1
	g.Strong = func(i, j int) bool { return j == last && c.Pairs[i].Significant }
	return g, true
}

// short writes a p-value for people.
func short(p float64) string { return strconv.FormatFloat(p, 'g', 2, 64) }

// digits are as many as a mean of rounded numbers has.
const digits = 12

// writeCSV writes a row for each setting and method.
func (c *Comparison) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	out.Write(append(slices.Clone(c.Columns), "method", "number", "mean", "deviation", "runs", "rank", "best", "p")) //nolint:errcheck // Error says
	exact := func(v float64) string { return strconv.FormatFloat(v, 'g', digits, 64) }
	for _, s := range c.Settings {
		for m, r := range s.Results {
			if r.Runs == 0 {
				continue
			}
			rank, p := "", ""
			if r.Rank > 0 {
				rank = exact(r.Rank)
			}
			if r.P != nil {
				p = exact(*r.P)
			}
			cells := append(slices.Clone(s.Values), c.Methods[m], c.Number, exact(r.Mean), exact(r.Deviation), strconv.Itoa(r.Runs), rank, strconv.FormatBool(r.Best), p)
			for i, cell := range cells[:len(s.Values)+1] {
				cells[i] = safetext.Escape(cell)
			}
			out.Write(cells) //nolint:errcheck // Error says
		}
	}
	out.Flush()
	return out.Error()
}
