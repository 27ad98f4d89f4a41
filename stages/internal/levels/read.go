package levels

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/tables"
)

// ReadNames are the names of the levels in a table that Read reads.
func ReadNames(ctx context.Context, path string) (names []string, err error) {
	if info, err := os.Stat(path); path == "-" || err == nil && (info.IsDir() || !tables.HasBlocks(ctx, path, tables.Options{})) {
		return nil, fmt.Errorf("%s: is no table in a file: give levels as CSV, TSV, Parquet or Arrow", path)
	}
	if strings.HasSuffix(path, ".obo") || strings.HasSuffix(path, ".owl") {
		return nil, fmt.Errorf("%s: is an ontology, whose classes may have several parents: write a table with a column a level, the coarsest first, with the classes of the source in the last", path)
	}
	columns, _, err := tables.Columns(ctx, path, tables.Options{})
	if err != nil {
		return nil, err
	}
	for _, c := range columns {
		names = append(names, c.Name)
	}
	if len(names) < 2 {
		return nil, fmt.Errorf("%s: has one column, and levels are two or more: give a column a level, the coarsest first, with the classes of the source in the last", path)
	}
	return names, nil
}

// Read reads the tree of classes from a table with a column a level, the coarsest first, and a row for each
// class of the last.
func Read(ctx context.Context, path string, classes []string) (*Tree, error) {
	names, err := ReadNames(ctx, path)
	if err != nil {
		return nil, err
	}
	fields, cells := make([]arrow.Field, len(names)), make([][]string, len(names))
	for l, name := range names {
		fields[l] = arrow.Field{Name: name, Type: arrow.BinaryTypes.String, Nullable: true}
	}
	err = tables.EachBatch(ctx, path, tables.Options{}, fields, func(rec arrow.Record) error {
		for l := range fields {
			for i := range int(rec.NumRows()) {
				text, _ := arrowio.Cell(rec.Column(l), i)
				cells[l] = append(cells[l], text)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	t, err := New(names, cells, classes, func(row int) string { return fmt.Sprintf("row %d", row+1) })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}
