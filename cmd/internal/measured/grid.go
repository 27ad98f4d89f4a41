package main

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// An axis is a column that says which run it is. Its values are shown by other names if
// there are some.
type axis struct {
	name, head string
	shown      map[string]string
}

// A cell is a column of a table: what it makes of the runs of a row.
type cell struct {
	head string
	of   func([]run) string
}

// grid is a table in Markdown with a row for each combination of the axes' values, in the
// order of the runs.
func grid(runs []run, rows []axis, cells ...cell) string {
	var heads, keys []string
	for _, a := range rows {
		heads = append(heads, a.head)
	}
	for _, c := range cells {
		heads = append(heads, c.head)
	}
	groups := map[string][]run{}
	for _, r := range runs {
		var key []string
		for _, a := range rows {
			key = append(key, r.at(a.name))
		}
		k := strings.Join(key, "\x00")
		if groups[k] == nil {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], r)
	}
	var lines [][]string
	for _, k := range keys {
		var line []string
		for i, value := range strings.Split(k, "\x00") {
			if name, ok := rows[i].shown[value]; ok {
				value = name
			}
			line = append(line, value)
		}
		for _, c := range cells {
			line = append(line, c.of(groups[k]))
		}
		lines = append(lines, line)
	}
	return markdown(heads, lines)
}

func markdown(heads []string, lines [][]string) string {
	var text strings.Builder
	text.WriteString("| " + strings.Join(heads, " | ") + " |\n" + strings.Repeat("|---", len(heads)) + "|\n")
	for _, line := range lines {
		text.WriteString("| " + strings.Join(line, " | ") + " |\n")
	}
	return text.String()
}

// across makes a column of each value of an axis.
func across(runs []run, name string, of func([]run) string) (cells []cell) {
	for _, v := range values(runs, name) {
		cells = append(cells, cell{v, func(of_ []run) string { return of(where(of_, name, v)) }})
	}
	return cells
}

// values are those of a column, in the order of the runs.
func values(runs []run, name string) (found []string) {
	for _, r := range runs {
		if v := r.at(name); v != "" && !slices.Contains(found, v) {
			found = append(found, v)
		}
	}
	return found
}

// where are the runs that have one of the values.
func where(runs []run, name string, values ...string) (found []run) {
	for _, r := range runs {
		if slices.Contains(values, r.at(name)) {
			found = append(found, r)
		}
	}
	return found
}

// numbers are the values of a number in the runs that have it.
func numbers(runs []run, name string) (found []float64) {
	for _, r := range runs {
		if v, ok := r.number(name); ok {
			found = append(found, v)
		}
	}
	return found
}

// mean is a mean of three digits; nothing of no runs.
func mean(name string) func([]run) string {
	return func(runs []run) string { return digits(average(numbers(runs, name)), 3) }
}

// spread is the mean ± the standard deviation, if there are several runs.
func spread(name string) func([]run) string {
	return func(runs []run) string {
		of := numbers(runs, name)
		if len(of) < 2 {
			return digits(average(of), 3)
		}
		return digits(average(of), 3) + " ± " + digits(stat.StdDev(of, nil), 3)
	}
}

// average adds in the order of the runs: figures of the pages end in the digit that this gives.
func average(of []float64) float64 {
	sum := 0.0
	for _, v := range of {
		sum += v
	}
	return sum / float64(len(of))
}

// digits writes a number as the pages do: .892, and nothing where there is none.
func digits(v float64, n int) string {
	if math.IsNaN(v) {
		return ""
	}
	text := strconv.FormatFloat(v, 'f', n, 64)
	if math.Abs(v) < 1 {
		text = strings.Replace(text, "0.", ".", 1)
	}
	return text
}

func shortest(v float64) string {
	return strings.TrimPrefix(strconv.FormatFloat(v, 'g', -1, 64), "0")
}
