package pipeline

import (
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mars.dev/mars/arrowio/atomicfile"
	"mars.dev/mars/arrowio/safetext"
	"mars.dev/mars/pipeline/internal/grid"
)

// writeTable writes the results to the table's file, as its name asks for, and prints
// them.
func (r *Runner) writeTable(t *Results) error {
	grids := t.grids(r.Graph.File.table())
	if r.Table != "" {
		if err := atomicfile.Write(r.Table, t.writer(r.Table, grids, r.Plain)); err != nil {
			return fmt.Errorf("table: %w", err)
		}
	}
	if r.Text == nil {
		return nil
	}
	return grid.WriteText(r.Text, grids)
}

// writer writes a file of results: Markdown (.md) and aligned text (.txt) are what is
// printed, all else is CSV with a row for each run.
func (t *Results) writer(path string, grids []grid.Grid, plain bool) func(io.Writer) error {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".md":
		return func(w io.Writer) error { return grid.WriteMarkdown(safetext.NewWriter(w), grids) }
	case ".txt":
		return func(w io.Writer) error { return grid.WriteText(safetext.NewWriter(w), grids) }
	}
	return func(w io.Writer) error { return t.WriteCSV(w, plain) }
}

// WriteCSV writes the cells. If it is to be plain, text that a spreadsheet would take for a
// formula gets an apostrophe before it.
func (t *Results) WriteCSV(w io.Writer, plain bool) error {
	rows := t.Cells()
	for _, cells := range rows {
		for i, text := range cells {
			if plain {
				cells[i] = safetext.Cell(text)
			}
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}

// Cells are a header and a row for each run: the matrix's values, the numbers, and, if some
// run failed, why.
func (t *Results) Cells() [][]string {
	head := slices.Concat(t.Axes, t.Columns)
	if t.failed() {
		head = append(head, "error")
	}
	rows := [][]string{head}
	for _, row := range t.Rows {
		cells := slices.Clone(row.Values)
		for _, name := range t.Columns {
			cell := ""
			if v, ok := row.Numbers[name]; ok {
				cell = exact(v)
			}
			cells = append(cells, cell)
		}
		if t.failed() {
			cells = append(cells, row.Error)
		}
		rows = append(rows, cells)
	}
	return rows
}

// exact writes a number with all its digits, and an exponent only where nobody would
// write it without.
func exact(v float64) string {
	const small, large = 1e-6, 1e21
	if size := max(v, -v); size != 0 && (size < small || size >= large) {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
