package ask

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/internal/sheet"
	"mars.dev/mars/tables"
)

// Keep says which columns of the target's file a sheet has, so that a person sees what to label.
type Keep struct {
	path    string
	options tables.Options
	fields  []arrow.Field
}

// Values of --keep beside names.
const (
	KeepAuto = "auto" // all columns, if they are MostKept at most
	KeepAll  = "all"
)

// MostKept is how many columns KeepAuto keeps.
const MostKept = 12

// NewKeep keeps columns of a file: those of the names, or as their only one says. The column of
// labels is not kept, nor one whose name a sheet has itself. There is nothing to keep (nil) of
// what has no columns, unless columns were named.
func NewKeep(ctx context.Context, path string, o tables.Options, names []string, label string) (*Keep, error) {
	all, auto := slices.Equal(names, []string{KeepAll}), slices.Equal(names, []string{KeepAuto})
	if !tables.HasBlocks(ctx, path, o) {
		if auto {
			return nil, nil
		}
		return nil, fmt.Errorf("%s: its columns cannot be kept: give a table in a file, such as CSV or Parquet", path)
	}
	fields, _, err := tables.Columns(ctx, path, o)
	if err != nil {
		return nil, err
	}
	k := &Keep{path: path, options: o}
	own := []string{sheet.OrderColumn, o.ID, "id", guessColumn, confidenceColumn, label, sheet.ProbabilityColumn, sheet.PartColumn, sheet.CodeColumn}
	free := slices.DeleteFunc(slices.Clone(fields), func(f arrow.Field) bool { return slices.Contains(own, f.Name) })
	if all || auto {
		if all || len(free) <= MostKept {
			k.fields = free
		}
		return k, nil
	}
	for _, name := range names {
		i := slices.IndexFunc(free, func(f arrow.Field) bool { return f.Name == name })
		switch {
		case i >= 0:
			k.fields = append(k.fields, free[i])
		case name == label && label != "":
			return nil, fmt.Errorf("%s: column %q is the label, which the person is to say: keep others", path, name)
		case slices.Contains(own, name):
			return nil, fmt.Errorf("%s: column %q has the name of one that is written: rename it, or keep others by name", path, name)
		default:
			return nil, fmt.Errorf("%s: has no column %q that can be kept: name columns that it has, and no lists", path, name)
		}
	}
	return k, nil
}

// Of returns the kept columns of the rows of a sheet; nil if none are kept.
func (k *Keep) Of(ctx context.Context, s *Sheet) (arrow.Record, error) {
	if k == nil || len(k.fields) == 0 {
		return nil, nil
	}
	place := map[int]int{}
	for i, row := range s.Rows {
		place[row.Row] = i
	}
	cells := make([][]arrow.Array, len(k.fields)) // by column, a row of the sheet each
	for j := range cells {
		cells[j] = make([]arrow.Array, len(s.Rows))
	}
	first, found := 0, 0
	err := tables.EachBatch(ctx, k.path, k.options, k.fields, func(rec arrow.Record) error {
		for i := range int(rec.NumRows()) {
			at, drawn := place[first+i]
			if !drawn {
				continue
			}
			found++
			for j := range cells {
				var err error
				if cells[j][at], err = arrowio.CopyRows(rec.Column(j), int64(i), int64(i)+1); err != nil {
					return err
				}
			}
		}
		first += int(rec.NumRows())
		return nil
	})
	if err != nil {
		return nil, err
	}
	if found != len(s.Rows) {
		return nil, fmt.Errorf("%s: has other rows than were read before: run again when nothing writes to it", k.path)
	}
	columns := make([]arrow.Array, len(cells))
	for j := range cells {
		if columns[j], err = array.Concatenate(cells[j], memory.DefaultAllocator); err != nil {
			return nil, fmt.Errorf("%s: %w", k.path, err)
		}
	}
	return array.NewRecord(arrow.NewSchema(k.fields, nil), columns, int64(len(s.Rows))), nil
}
