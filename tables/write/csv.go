package write

import (
	"cmp"
	"context"
	"encoding/csv"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/arrowio/safetext"
)

// blockRows is how many rows are written at a time, so that of thousands of columns each is gone to once for
// as many of its values as lie side by side in a processor's cache.
const blockRows = 16

// CSV writes src as CSV with a header, for programs that do not read Arrow. A
// fixed_size_list becomes one column for each element, NAME_0, NAME_1 and so on.
// Other nested values are written as text. Nulls are empty.
func CSV(ctx context.Context, w io.Writer, src arrowio.Stream) error {
	return CSVOptions{}.Write(ctx, w, src)
}

// CSVOptions say how CSV is written.
type CSVOptions struct {
	// Spreadsheet puts an apostrophe before text that a spreadsheet would take for a
	// formula. Numbers stay as they are.
	Spreadsheet bool
	// Separator is between cells; 0 means a comma.
	Separator rune
	// Headless leaves the header out.
	Headless bool
}

// Write is CSV with options.
func (o CSVOptions) Write(ctx context.Context, w io.Writer, src arrowio.Stream) error {
	header, err := csvHeader(src.Schema())
	if err != nil {
		return &arrowio.Error{Input: src.Name(), Err: err, Advice: "drop the column, or read the Arrow data itself"}
	}
	out := csv.NewWriter(w)
	out.Comma = cmp.Or(o.Separator, ',')
	if !o.Headless {
		out.Write(o.cells(header))
	}
	var rows [blockRows][]string
	err = arrowio.Each(ctx, src, func(rec arrow.Record) error {
		for lo, n := 0, int(rec.NumRows()); lo < n; lo += blockRows {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			block := rows[:min(blockRows, n-lo)]
			for i := range block {
				block[i] = block[i][:0]
			}
			for _, col := range rec.Columns() {
				for i := range block {
					block[i] = appendCells(block[i], col, lo+i)
				}
			}
			for _, cells := range block {
				out.Write(o.cells(cells))
			}
		}
		return out.Error()
	})
	out.Flush()
	if err == nil {
		err = out.Error()
	}
	return err
}

func (o CSVOptions) cells(cells []string) []string {
	if o.Spreadsheet {
		for i, text := range cells {
			cells[i] = safetext.Cell(text)
		}
	}
	return cells
}

// maxCSVColumns is more than any program that reads CSV takes.
const maxCSVColumns = 1 << 20

func csvHeader(schema *arrow.Schema) ([]string, error) {
	var out []string
	for _, f := range schema.Fields() {
		list, ok := f.Type.(*arrow.FixedSizeListType)
		if !ok {
			out = append(out, f.Name)
			continue
		}
		if int(list.Len()) > maxCSVColumns-len(out) {
			return nil, fmt.Errorf("column %q: is too wide for CSV: %d elements", f.Name, list.Len())
		}
		for k := range list.Len() {
			out = append(out, fmt.Sprintf("%s_%d", f.Name, k))
		}
	}
	return out, nil
}

// appendCells appends the cells of row i of col.
func appendCells(cells []string, col arrow.Array, i int) []string {
	list, ok := col.(*array.FixedSizeList)
	if !ok {
		text, _ := arrowio.Cell(col, i)
		return append(cells, text)
	}
	beg, end := list.ValueOffsets(i)
	for k := beg; k < end; k++ {
		text := ""
		if list.IsValid(i) {
			text, _ = arrowio.Cell(list.ListValues(), int(k))
		}
		cells = append(cells, text)
	}
	return cells
}
