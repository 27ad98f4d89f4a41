package format

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// readText reads a text table: a header, then one line for each row. Fields may
// be quoted as in RFC 4180.
func readText(ctx context.Context, in *input, o Options) (*Table, error) {
	r, header, err := newTextReader(in, o)
	if err != nil {
		return nil, err
	}
	p, err := planText(header, o)
	if err != nil {
		return nil, err
	}
	t := &textTable{plan: p, names: map[string]string{}}
	for first := true; ; first = false {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, textError(err, len(header))
		}
		if first {
			t.plan.settle(record)
		}
		if err := t.add(record, r); err != nil {
			return nil, err
		}
	}
	return t.finish(ctx, o)
}

// newTextReader reads the header and finds the separator.
func newTextReader(in *input, o Options) (*csv.Reader, []string, error) {
	skipMark(in.Reader)
	r := csv.NewReader(in)
	r.Comma = separator(in, o)
	r.ReuseRecord = true
	record, err := r.Read()
	if err != nil {
		return nil, nil, textError(err, 0)
	}
	header := make([]string, len(record))
	for i, name := range record {
		header[i] = strings.TrimSpace(name)
		if k := slices.Index(header[:i], header[i]); k >= 0 && header[i] != "" {
			return nil, nil, fmt.Errorf("line 1: column %q is there twice: rename one", header[i])
		}
	}
	if isData(header) {
		return nil, nil, errors.New("line 1: has numbers where the columns' names should be: add a header line")
	}
	return r, header, nil
}

// skipMark skips the byte-order mark at the beginning, which spreadsheets write.
func skipMark(r *bufio.Reader) {
	if head, err := r.Peek(3); err == nil && string(head) == "\xef\xbb\xbf" {
		r.Discard(3) // cannot fail: the bytes are there
	}
}

func separator(in *input, o Options) rune {
	if o.Separator != 0 {
		return o.Separator
	}
	if strings.EqualFold(filepath.Ext(in.name), ".tsv") {
		return '\t'
	}
	head, _ := in.Peek(in.Size()) // the header line, or its beginning
	line, _, _ := strings.Cut(string(head), "\n")
	best := ','
	for _, s := range ";\t" {
		if strings.Count(line, string(s)) > strings.Count(line, string(best)) {
			best = s
		}
	}
	return best
}

// isData reports whether a header is in fact a row: all numbers, but not the 0, 1,
// 2, … with which pandas names the columns of an array.
func isData(header []string) bool {
	counted := true
	for i, name := range header {
		if _, err := strconv.ParseFloat(name, 64); err != nil {
			return false
		}
		counted = counted && name == strconv.Itoa(i)
	}
	return !counted
}

// textError explains an error of the CSV reader. fields is the number of fields of
// the header.
func textError(err error, fields int) error {
	var bad *csv.ParseError
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("has no header line: check what wrote it")
	case !errors.As(err, &bad):
		return readError(err)
	case errors.Is(err, csv.ErrFieldCount):
		return fmt.Errorf("line %d: has another number of fields than the %d of the header: mend the line, or check the separator", bad.Line, fields)
	}
	return fmt.Errorf("line %d, column %d: %w: mend the quotes of the line", bad.Line, bad.Column, bad.Err)
}

// A textTable grows row by row.
type textTable struct {
	plan   *textPlan
	data   []float32
	rows   int
	labels []string
	ids    []string
	names  map[string]string // lets equal labels share memory
}

// add appends one record. r gives its place for errors.
func (t *textTable) add(record []string, r *csv.Reader) error {
	for _, i := range t.plan.features {
		v, err := parseValue(record[i])
		if err != nil {
			line, _ := r.FieldPos(i)
			return fmt.Errorf("line %d, column %q: %w", line, t.plan.header[i], err)
		}
		t.data = append(t.data, v)
	}
	if t.plan.label >= 0 {
		t.labels = append(t.labels, t.intern(strings.TrimSpace(record[t.plan.label])))
	}
	if t.plan.id >= 0 {
		t.ids = append(t.ids, strings.Clone(strings.TrimSpace(record[t.plan.id])))
	}
	t.rows++
	return nil
}

func (t *textTable) intern(name string) string {
	known, ok := t.names[name]
	if !ok {
		known = strings.Clone(name)
		t.names[known] = known
	}
	return known
}

func (t *textTable) finish(ctx context.Context, o Options) (*Table, error) {
	p := t.plan
	if t.rows == 0 {
		return nil, errors.New("has a header but no rows: give data with at least one")
	}
	if len(p.features) == 0 {
		return nil, fmt.Errorf("has no column of numbers for features (its columns are %s): name the feature columns", list(p.header))
	}
	out, err := newTable(ctx, t.data, t.rows, len(p.features), []int{len(p.features)})
	if err != nil {
		return nil, err
	}
	out.Columns, out.Skipped = p.names()
	if p.label >= 0 && o.Labels == "" && !o.NoLabels {
		if out.Labels, err = wholeLabels(t.labels); err != nil {
			return nil, fmt.Errorf("column %q: %w", p.header[p.label], err)
		}
	}
	if p.id >= 0 {
		if err := out.setIDs(ctx, t.ids); err != nil {
			return nil, fmt.Errorf("column %q: %w", p.header[p.id], err)
		}
	}
	return out, nil
}

// missing are the words that programs write for a missing value.
var missing = []string{"", "na", "n/a", "nan", "null", "none", "?", "-"}

func parseValue(field string) (float32, error) {
	field = strings.TrimSpace(field)
	v, err := strconv.ParseFloat(field, 32)
	switch {
	case slices.Contains(missing, strings.ToLower(field)):
		return 0, fmt.Errorf("the value is missing (%q): fill or drop the row, or choose other feature columns", field)
	case errors.Is(err, strconv.ErrRange) || math.IsInf(v, 0):
		return 0, fmt.Errorf("%s is infinite, or too large for float32: mend or drop the row", field)
	case err != nil:
		return 0, fmt.Errorf("%q is not a number: mend it, or choose other feature columns", field)
	}
	return float32(v), nil
}

// wholeLabels rewrites labels as integers if all are whole numbers: pandas writes
// 3.0 in a column of integers with missing values. Other labels stay as they are.
func wholeLabels(labels []string) ([]string, error) {
	names := map[string]string{"": ""}
	for _, label := range labels {
		if _, done := names[label]; done {
			continue
		}
		v, err := strconv.ParseFloat(label, 64)
		if err != nil {
			return labels, nil
		}
		if names[label], err = floatLabel(v); err != nil {
			return nil, err
		}
	}
	for i, label := range labels {
		labels[i] = names[label]
	}
	return labels, nil
}

// readTextLabels reads only the labels of a text table: its label column, or its
// only column.
func readTextLabels(in *input, o Options) ([]string, error) {
	r, header, err := newTextReader(in, o)
	if err != nil {
		return nil, err
	}
	column := 0
	if len(header) > 1 || o.Label != "" {
		if column = slices.Index(header, orDefault(o.Label, "label")); column < 0 {
			return nil, fmt.Errorf("has no column %q (its columns are %s): name the label column", orDefault(o.Label, "label"), list(header))
		}
	}
	t := &textTable{plan: &textPlan{label: column, id: -1}, names: map[string]string{}}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return wholeLabels(t.labels)
		}
		if err != nil {
			return nil, textError(err, len(header))
		}
		if err := t.add(record, r); err != nil {
			return nil, err
		}
	}
}
