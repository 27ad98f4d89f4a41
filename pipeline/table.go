package pipeline

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"mars/arrowio/atomicfile"
)

// Results are the numbers that the runs of a graph put out as JSON (mars-eval
// --json): a row for each run.
type Results struct {
	Axes    []string // of the matrix
	Columns []string // names of the numbers, in the order of the JSON
	Rows    []ResultRow
}

// A ResultRow is one run's.
type ResultRow struct {
	Values  []string           // of the matrix, one for each axis
	Numbers map[string]float64 // by column
}

// seedAxis is the axis over which a summary takes the mean.
const seedAxis = "seed"

// results reads what the text stages of every run have put out.
func (r *Runner) results() (*Results, error) {
	t := &Results{}
	for _, axis := range r.Graph.File.Axes {
		t.Axes = append(t.Axes, axis.Name)
	}
	for _, run := range r.Graph.Runs {
		for _, n := range run.Nodes {
			if n == nil || n.Stage.Rows {
				continue
			}
			if err := r.addResult(t, run, n); err != nil {
				return nil, n.fail("", err)
			}
		}
	}
	if len(t.Rows) == 0 {
		return nil, errors.New(`table: no stage puts out numbers: end with run = "eval" and json = true`)
	}
	return t, nil
}

func (r *Runner) addResult(t *Results, run *Run, n *Node) error {
	e := r.store.lookup(n.Key)
	if e == nil {
		return nil // it failed, and others were to go on
	}
	f, _ := e.File("")
	text, err := os.ReadFile(e.Path(f))
	if err != nil {
		return err
	}
	row := ResultRow{Numbers: map[string]float64{}}
	for _, axis := range t.Axes {
		row.Values = append(row.Values, run.Values[axis])
	}
	if err := t.readNumbers(text, row.Numbers); err != nil {
		return fmt.Errorf("its output makes no row of a table (json = true?): %w", err)
	}
	t.Rows = append(t.Rows, row)
	return nil
}

// readNumbers takes the numbers at the top level of a JSON object.
func (t *Results) readNumbers(text []byte, numbers map[string]float64) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return errors.New("it is no JSON object")
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		var value any
		if err := d.Decode(&value); err != nil {
			return err
		}
		if v, ok := value.(float64); ok {
			name := key.(string)
			numbers[name] = v
			if !slices.Contains(t.Columns, name) {
				t.Columns = append(t.Columns, name)
			}
		}
	}
	return nil
}

// WriteCSV writes a header and a row for each run: the matrix's values, then the
// numbers.
func (t *Results) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	c.Write(append(slices.Clone(t.Axes), t.Columns...)) //nolint:errcheck // Error says
	for _, row := range t.Rows {
		cells := slices.Clone(row.Values)
		for _, name := range t.Columns {
			cell := ""
			if v, ok := row.Numbers[name]; ok {
				cell = strconv.FormatFloat(v, 'g', -1, 64)
			}
			cells = append(cells, cell)
		}
		c.Write(cells) //nolint:errcheck
	}
	c.Flush()
	return c.Error()
}

// WriteSummary prints one row for all runs that differ in their seed alone: the means
// and, of several runs, the standard deviations.
func (t *Results) WriteSummary(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	var names []string
	for _, axis := range t.Axes {
		if axis != seedAxis {
			names = append(names, axis)
		}
	}
	fmt.Fprintln(tw, strings.Join(append(append(names, "runs"), t.Columns...), "\t"))
	for _, group := range t.groups() {
		cells := append(t.withoutSeed(group[0]), strconv.Itoa(len(group)))
		for _, name := range t.Columns {
			cells = append(cells, summary(group, name))
		}
		fmt.Fprintln(tw, strings.Join(cells, "\t"))
	}
	return tw.Flush()
}

func (t *Results) withoutSeed(row ResultRow) []string {
	values := []string{}
	for i, axis := range t.Axes {
		if axis != seedAxis {
			values = append(values, row.Values[i])
		}
	}
	return values
}

// groups are the rows, those that differ in their seed alone together.
func (t *Results) groups() [][]ResultRow {
	var groups [][]ResultRow
	at := map[string]int{}
	for _, row := range t.Rows {
		key := strings.Join(t.withoutSeed(row), "\x00")
		i, known := at[key]
		if !known {
			i, at[key] = len(groups), len(groups)
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], row)
	}
	return groups
}

// rounding is the relative error of a mean of equal numbers.
const rounding = 1e-12

// summary is mean and standard deviation of a number over rows.
func summary(group []ResultRow, name string) string {
	var sum, squares, n float64
	for _, row := range group {
		if v, ok := row.Numbers[name]; ok {
			sum, n = sum+v, n+1
		}
	}
	if n == 0 {
		return ""
	}
	mean := sum / n
	for _, row := range group {
		if v, ok := row.Numbers[name]; ok {
			squares += (v - mean) * (v - mean)
		}
	}
	deviation := math.Sqrt(squares / max(1, n-1))
	if deviation <= rounding*math.Abs(mean) {
		return strconv.FormatFloat(mean, 'g', 4, 64)
	}
	return fmt.Sprintf("%.4g ± %.2g", mean, deviation)
}

// writeTable writes the results to the table's file and sums them up.
func (r *Runner) writeTable() error {
	if r.Table == "" {
		return nil
	}
	t, err := r.results()
	if err != nil {
		return err
	}
	if err := atomicfile.Write(r.Table, t.WriteCSV); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	if r.Text == nil {
		return nil
	}
	return t.WriteSummary(r.Text)
}
