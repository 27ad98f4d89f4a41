package tables

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
)

// openLabels reads a file of labels.
func openLabels(ctx context.Context, path string, o Options) ([]string, error) {
	path, inner, err := splitPath(path)
	if err != nil {
		return nil, fmt.Errorf("labels: %w", err)
	}
	if inner != "" {
		o.Y = inner
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("labels: %w", absent(path, err))
	}
	defer f.Close()
	o.Columns, o.Fields, o.Compensate, o.Compensated, o.Panel, o.Hash = nil, nil, false, false, nil, 0 // of the features
	in, err := newInput(ctx, f, path, o)
	if err != nil {
		return nil, named(path, err)
	}
	defer in.reading.Close()
	labels, err := readLabels(ctx, in, o)
	if err != nil {
		return nil, named(path, err)
	}
	return labels, nil
}

// labelIDs are the identities of the rows of a file of labels, nil if it has no column of them. header are its columns, nil if
// it is an array.
func labelIDs(ctx context.Context, o Options) (ids, header []string, err error) {
	how := o
	how.Columns, how.Fields, how.Domain, how.Each, how.only = nil, nil, "", nil, nil
	if !HasBlocks(ctx, o.Labels, how) {
		return nil, nil, nil
	}
	fields, _, err := Columns(ctx, o.Labels, how)
	for _, f := range fields {
		header = append(header, f.Name)
	}
	name := cmp.Or(o.ID, "id")
	if err != nil || !slices.Contains(header, name) {
		return nil, header, err
	}
	err = EachWanted(ctx, o.Labels, how, func(f arrow.Field) bool { return f.Name == name }, func(rec arrow.Record) error {
		names, err := namesOf(rec, name)
		for _, id := range names {
			ids = append(ids, strings.Clone(id))
		}
		return cmp.Or(err, o.Memory.Take(int64(len(names))*nameCost))
	})
	return ids, header, err
}

// labelsByID are the labels of rows whose identities a file of labels has, "" of others.
func (t *Table) labelsByID(labels, ids []string, path string) ([]string, error) {
	at := make(map[string]int, len(ids))
	for i, id := range ids {
		if first, twice := at[id]; twice && labels[first] != labels[i] {
			return nil, fmt.Errorf("%s: row %d: the identity %q has another label than in row %d: give one", path, i+1, id, first+1)
		}
		at[id] = i
	}
	own, found := make([]string, t.Features.Rows), false
	for i := range own {
		if k, ok := at[identities{ints: t.IDInts, names: t.IDNames}.text(i)]; ok {
			own[i], found = labels[k], true
		}
	}
	if !found {
		return nil, fmt.Errorf("%s: its rows are of other identities, such as %q: give labels of the same rows, or leave the column of identities out", path, ids[0])
	}
	return own, nil
}

func readLabels(ctx context.Context, in *input, o Options) ([]string, error) {
	if in.format.labels != nil {
		return in.format.labels(ctx, in, o)
	}
	return readTableLabels(ctx, in, o)
}

// wholeLabels rewrites labels as integers if all are whole numbers: pandas writes
// 3.0 in a column of integers with missing values. Other labels stay as they are, and so do
// all where one has a leading zero: 08 is a code, and another than 8.
func wholeLabels(labels []string) ([]string, error) {
	names := map[string]string{"": ""}
	for _, label := range labels {
		if _, done := names[label]; done {
			continue
		}
		v, err := parseFloat(label, 64)
		if err != nil || IsCode(label) {
			//lint:ignore lostnil labels that are not all numbers are names
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

// IsCode reports whether a text begins with a zero that a number has not, as 08.
var IsCode = regexp.MustCompile(`^0\d`).MatchString

// isWholeCode reports whether a value of a column is such a code, and no number with zeros before
// it and a fraction.
var isWholeCode = regexp.MustCompile(`^0\d+$`).MatchString

// readTextLabels reads only the labels of a text table: its label column, or its
// only column.
func readTextLabels(ctx context.Context, in *input, o Options) ([]string, error) {
	r, err := newTextReader(in, o)
	if err != nil {
		return nil, err
	}
	defer r.close()
	column, err := labelColumn(r.header, o)
	if err != nil {
		return nil, err
	}
	p := &plan{header: r.header, roles: noRoles, settled: true}
	p.label = column
	t := newTextTables(r, p, Options{}, in.mem)
	if err := t.addAll(ctx); err != nil {
		return nil, err
	}
	return wholeLabels(t.tables[0].labels)
}

// labelColumn is the column of the labels in a file of its own: that of the name, or its
// only column.
func labelColumn(header []string, o Options) (int, error) {
	if len(header) == 1 && o.Label == "" {
		return 0, nil
	}
	name := cmp.Or(o.Label, "label")
	i := slices.Index(header, name)
	if i < 0 {
		return 0, fmt.Errorf("has no column %q (its columns are %s): name the label column", name, list(header))
	}
	return i, nil
}

// readTableLabels reads only the labels of a table that is no text.
func readTableLabels(ctx context.Context, in *input, o Options) (labels []string, err error) {
	err = openColumns(ctx, in, o, func(schema *arrow.Schema, next records) error {
		flat, _ := flatSchema(schema)
		header := make([]string, flat.NumFields())
		for i, f := range flat.Fields() {
			header[i] = f.Name
		}
		column, err := labelColumn(header, o)
		if err != nil {
			return err
		}
		next = flattened(schema, next)
		t := partTable{mem: in.mem, known: map[string]string{}}
		for {
			rec, err := next()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			err = charged(in.mem, rec, func(name string) bool { return name == header[column] }, func() error {
				names, err := namesOf(rec, header[column])
				for _, name := range names {
					if err == nil {
						t.labels, err = t.push(t.labels, name)
					}
				}
				return err
			})
			if err != nil {
				return err
			}
			labels = t.labels
		}
	})
	return labels, err
}

// everyRow are the indices of n rows.
func everyRow(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}
