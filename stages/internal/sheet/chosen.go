package sheet

import (
	"context"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/algorithms/ppi"
	"mars.dev/mars/tables"
)

// Chosen are the rows of a table, by their number from 0, that mars ask chose by the model's doubt. They are no sample of
// their target, as the rows are that it drew uniformly. There are none in a table that is no sheet.
func Chosen(ctx context.Context, path string) (map[int]bool, error) {
	o := tables.Options{}
	if !tables.HasBlocks(ctx, path, o) {
		return nil, nil
	}
	fields, _, err := tables.Columns(ctx, path, o)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(fields, func(f arrow.Field) bool { return f.Name == CodeColumn }) {
		return nil, nil
	}
	chosen, first := map[int]bool{}, 0
	code := []arrow.Field{{Name: CodeColumn, Type: arrow.BinaryTypes.String, Nullable: true}}
	err = tables.EachBatch(ctx, path, o, code, func(rec arrow.Record) error {
		for i := range int(rec.NumRows()) {
			text, _ := arrowio.Cell(rec.Column(0), i)
			if _, row, ok := parseCode(strings.TrimSpace(text)); ok && row.Part == ppi.Chosen {
				chosen[first+i] = true
			}
		}
		first += int(rec.NumRows())
		return nil
	})
	return chosen, err
}
