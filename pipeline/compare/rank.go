package compare

import (
	"slices"
	"strings"

	"mars.dev/mars/pipeline/internal/grid"
	"mars.dev/mars/stages/algorithms/ranktest"
)

// wholeSettings are those that have all methods.
func (c *comparer) wholeSettings() (whole []*Setting) {
	for i := range c.to.Settings {
		if s := &c.to.Settings[i]; s.whole() {
			whole = append(whole, s)
		}
	}
	return whole
}

// rank ranks the methods by their means in each setting.
func (c *comparer) rank() error {
	whole := c.wholeSettings()
	if left := len(c.to.Settings) - len(whole); left > 0 {
		c.note("%d of %d settings lack a method: ranks, means and tests are of the others.", left, len(c.to.Settings))
	}
	if len(whole) == 0 {
		return nil
	}
	n, k := float64(len(whole)), len(c.to.Methods)
	c.to.Ranks, c.to.Means = make([]float64, k), make([]float64, k)
	var rows [][]float64
	for _, s := range whole {
		row := make([]float64, k)
		for m, r := range s.Results {
			c.to.Means[m] += r.Mean / n
			if row[m] = r.Mean; !c.to.Lower {
				row[m] = -r.Mean
			}
		}
		for m, r := range ranktest.Ranks(row) {
			s.Results[m].Rank = r
			c.to.Ranks[m] += r / n
		}
		rows = append(rows, row)
	}
	if len(rows) < 2 || k < 3 {
		return nil
	}
	f, err := ranktest.CompareRanks(rows)
	if err != nil {
		return err
	}
	c.to.Friedman = &Rank{ChiSquared: f.ChiSquared, P: f.P, PF: f.PF, CriticalDifference: ranktest.CriticalDifference(k, len(rows), c.Level)}
	return nil
}

// pairs tests methods against each other: over the means of settings, or over the runs if
// there is one setting alone.
func (c *comparer) pairs() error {
	whole := c.wholeSettings()
	if len(whole) == 0 {
		return nil
	}
	values := make([][]float64, len(c.to.Methods))
	for m := range values {
		if len(whole) == 1 {
			values[m] = whole[0].of(m)
			continue
		}
		for _, s := range whole {
			values[m] = append(values[m], s.Results[m].Mean)
		}
	}
	c.to.PairedBy = "settings"
	if len(whole) == 1 {
		c.to.PairedBy = "runs"
	}
	if len(values[0]) < 2 {
		c.note("There is one run of each method: nothing can be tested.")
		return nil
	}
	var p []float64
	for a, first := range c.to.Methods {
		for b, second := range c.to.Methods {
			if a == b || c.Control == "" && a > b || c.Control != "" && first != c.Control {
				continue
			}
			w, err := ranktest.SignedRanks(differences(values[a], values[b]))
			if err != nil {
				return err
			}
			pair := Pair{First: first, Second: second, Equal: w.Zeros, P: w.P}
			for i, v := range values[a] {
				switch {
				case c.better(v, values[b][i]):
					pair.Better++
				case c.better(values[b][i], v):
					pair.Worse++
				}
			}
			c.to.Pairs, p = append(c.to.Pairs, pair), append(p, w.P)
		}
	}
	for i, corrected := range ranktest.Holm(p) {
		pair := &c.to.Pairs[i]
		pair.Corrected, pair.Significant = corrected, corrected < c.Level
	}
	if n, least := len(values[0]), ranktest.MinPairs(c.Level/float64(len(p))); n < least {
		c.note("With %d %s no difference of two methods can be significant at %g: that takes %d (tests: %d).", n, c.to.PairedBy, c.Level, least, len(p))
	}
	return nil
}

// resultNames are numbers that stages print, and other programs' names for the like. What is
// below one of them, such as recall.0, is a result too.
var resultNames = strings.Fields(`accuracy balanced_accuracy recall confusion_matrix classes n loss seconds megabytes error proportions proportions_l1 estimators estimators_l1
expected_error expected_accuracy interval region warnings verdict untypical target_rows alignment diagnostics disagreement
hedge matching mixture self_training translation covariance weights advice grounds`)

// isResult reports whether a column holds results, by its name: that of a number, with or
// without the name of a stage before it and of a part after it.
func isResult(column string) bool {
	return slices.ContainsFunc(strings.Split(column, "."), func(part string) bool { return slices.Contains(resultNames, part) })
}

// isError reports whether less of a number is better.
func isError(column string) bool {
	for _, part := range strings.FieldsFunc(column, func(r rune) bool { return r == '.' || r == '_' || r == '-' || r == ' ' }) {
		if slices.Contains([]string{"l1", "error", "loss", "seconds", "megabytes"}, part) {
			return true
		}
	}
	return false
}

// others are the means of errors, seconds and megabytes.
func (c *comparer) others() error {
	for _, name := range c.columns {
		if name == c.Number || slices.Contains(c.Settings, name) || !isError(name) || name == "error" {
			continue
		}
		values := make([][]float64, len(c.to.Methods))
		for i := range c.rows {
			r := &c.rows[i]
			v, known, err := r.number(name)
			if err != nil {
				return err
			}
			if m := slices.Index(c.to.Methods, r.cells[c.Method]); known {
				values[m] = append(values[m], v)
			}
		}
		o := Other{Name: name, Means: make([]*float64, len(values))}
		for m, of := range values {
			if mean := grid.MeanOf(of); mean.Runs > 0 {
				o.Means[m] = &mean.Value
			}
		}
		c.to.Others = append(c.to.Others, o)
	}
	return nil
}
