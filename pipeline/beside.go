package pipeline

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

// A beside is a table of numbers from elsewhere: some of its columns are axes of the
// matrix, by which its rows are joined to those of the results; the others are numbers.
type beside struct {
	path    string
	axes    []string
	columns []string
	rows    map[string]map[string]float64 // numbers by column, by the values of the axes
}

// readBeside reads the file that the table names, nil if it names none.
func (f *File) readBeside() (*beside, error) {
	if f.table().Beside == "" {
		return nil, nil
	}
	path, err := f.path(f.Table.Beside)
	if err != nil {
		return nil, f.fail(tablePlace, "beside", err)
	}
	b := &beside{path: path, rows: map[string]map[string]float64{}}
	if err := b.read(axisNames(f.Axes)); err != nil {
		return nil, f.fail(tablePlace, "beside", err)
	}
	return b, nil
}

func (b *beside) read(axes []string) error {
	file, err := os.Open(b.path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := csv.NewReader(file)
	head, err := lines.Read()
	if err != nil {
		return fmt.Errorf("%s: %w", b.path, err)
	}
	for _, name := range head {
		if slices.Contains(axes, name) {
			b.axes = append(b.axes, name)
		} else {
			b.columns = append(b.columns, name)
		}
	}
	if len(axes) == 0 {
		return fmt.Errorf("%s: its lines belong to runs by the axes of the matrix, and the file has no table [matrix]", b.path)
	}
	if len(b.axes) == 0 {
		return fmt.Errorf("%s: no column is an axis of the matrix: name one %s", b.path, strings.Join(axes, " or "))
	}
	for {
		cells, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", b.path, err)
		}
		if err := b.add(head, cells); err != nil {
			line, _ := lines.FieldPos(0)
			return fmt.Errorf("%s: line %d: %w", b.path, line, err)
		}
	}
}

// add adds a line. Empty cells are no numbers.
func (b *beside) add(head, cells []string) error {
	var values []string
	numbers := map[string]float64{}
	for i, name := range head {
		cell := strings.TrimSpace(cells[i])
		if slices.Contains(b.axes, name) {
			values = append(values, cell)
			continue
		}
		if cell == "" {
			continue
		}
		v, err := strconv.ParseFloat(cell, 64)
		if err != nil {
			return fmt.Errorf("%s: %q is no number, and no axis of the matrix has that name", name, cell)
		}
		numbers[name] = v
	}
	if _, twice := b.rows[joinKey(values)]; twice {
		return fmt.Errorf("there is a line for %s before", strings.Join(values, ", "))
	}
	b.rows[joinKey(values)] = numbers
	return nil
}

// joinKey is the same for equal values.
func joinKey(values []string) string { return strings.Join(values, "\x00") }

// has reports whether there is a column of that name.
func (b *beside) has(name string) bool { return b != nil && slices.Contains(b.columns, name) }

// join adds the numbers to the results, as columns after the others.
func (b *beside) join(t *Results) error {
	if b == nil {
		return nil
	}
	for _, name := range b.columns {
		if slices.Contains(t.Columns, name) {
			return fmt.Errorf("table: beside: %s: the runs have a number %s as well: give the column another name", b.path, name)
		}
		t.Columns = append(t.Columns, name)
	}
	for _, row := range t.Rows {
		var values []string
		for _, axis := range b.axes {
			values = append(values, row.Values[slices.Index(t.Axes, axis)])
		}
		for name, v := range b.rows[joinKey(values)] {
			row.Numbers[name] = v
		}
	}
	return nil
}
