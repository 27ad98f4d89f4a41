package compare

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"mars.dev/mars/arrowio"
)

// A table is the results of runs as they were read: a row for each run.
type table struct {
	columns []string // in the order in which they came up
	rows    []row
	origins []origin
}

// A row is what is known of a run.
type row struct {
	file  string
	line  int
	cells map[string]string // by column; those that are empty are left out
}

// An origin says what program made the results of a file, if that is known.
type origin struct{ file, program, study, text string }

// read reads files of results: CSV, or JSON lines if the name ends in .jsonl or .ndjson. - is
// standard input.
func read(files []string) (*table, error) {
	t := &table{}
	for _, name := range files {
		before := len(t.rows)
		if err := t.addFile(name); err != nil {
			return nil, err
		}
		if len(t.rows) == before {
			return nil, noResults(name)
		}
	}
	return t, nil
}

func noResults(name string) error { return fmt.Errorf("%s: there are no results in it", name) }

func (t *table) addFile(name string) error {
	if name == "-" {
		return t.addCSV(name, arrowio.StandardInput())
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	switch strings.ToLower(filepath.Ext(name)) {
	case ".jsonl", ".ndjson":
		return t.addLines(name, f)
	}
	return t.addCSV(name, f)
}

func (t *table) addCSV(name string, r io.Reader) error {
	c := csv.NewReader(bufio.NewReader(r))
	head, err := c.Read()
	if err == io.EOF {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w: give CSV or JSON lines, a row a run", name, err)
	}
	head[0] = strings.TrimPrefix(head[0], "\ufeff")
	if err := t.addColumns(name, head); err != nil {
		return err
	}
	for {
		record, err := c.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w: give CSV or JSON lines, a row a run", name, err)
		}
		line, _ := c.FieldPos(0)
		t.addRecord(name, line, head, record)
	}
}

func (t *table) addColumns(name string, head []string) error {
	for i, column := range head {
		if slices.Contains(head[:i], column) {
			return fmt.Errorf("%s: two columns are called %q", name, column)
		}
		t.addColumn(column)
	}
	return nil
}

func (t *table) addRecord(name string, line int, head, record []string) {
	cells := map[string]string{}
	for i, text := range record {
		if text != "" {
			cells[head[i]] = text
		}
	}
	t.rows = append(t.rows, row{name, line, cells})
}

// programKey is in the line of a file of JSON lines that says what made it, and in no other.
// The study that the line names is a column of all lines below it.
const (
	programKey = "program"
	studyKey   = "study"
)

func (t *table) addLines(name string, r io.Reader) error {
	lines := bufio.NewReader(r)
	for line := 1; ; line++ {
		text, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return fmt.Errorf("%s: %w", name, err)
		}
		last := err == io.EOF
		if len(bytes.TrimSpace(text)) > 0 {
			if err := t.addObject(name, line, text); err != nil {
				return fmt.Errorf("%s: line %d: %w", name, line, err)
			}
		}
		if last {
			return nil
		}
	}
}

var errNoObject = errors.New("want a JSON object a line")

func (t *table) addObject(name string, line int, text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if token, err := d.Token(); err != nil || token != json.Delim('{') {
		return errNoObject
	}
	cells := map[string]string{}
	var columns []string
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		var value any
		if err := d.Decode(&value); err != nil {
			return err
		}
		column := fmt.Sprint(key)
		switch v := value.(type) {
		case nil:
		case string, json.Number, bool:
			cells[column] = fmt.Sprint(v)
			columns = append(columns, column)
		}
	}
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("the object does not end: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return errNoObject
	}
	if program, ok := cells[programKey]; ok {
		t.origins = append(t.origins, origin{name, program, cells[studyKey], strings.TrimSpace(cells["commit"] + " " + cells["date"])})
		return nil
	}
	if n := len(t.origins); n > 0 && t.origins[n-1].file == name && t.origins[n-1].study != "" {
		cells[studyKey], columns = t.origins[n-1].study, append(columns, studyKey)
	}
	for _, column := range columns {
		t.addColumn(column)
	}
	t.rows = append(t.rows, row{name, line, cells})
	return nil
}

func (t *table) addColumn(name string) {
	if !slices.Contains(t.columns, name) {
		t.columns = append(t.columns, name)
	}
}

// number is a cell's.
func (r *row) number(column string) (v float64, known bool, err error) {
	text, known := r.cells[column]
	if !known {
		return 0, false, nil
	}
	v, err = strconv.ParseFloat(text, 64)
	if err != nil || v != v || v-v != 0 {
		return 0, false, fmt.Errorf("%s: line %d: %s is %q: want a finite number", r.file, r.line, column, text)
	}
	return v, true, nil
}
