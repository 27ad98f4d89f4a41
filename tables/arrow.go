package tables

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
)

var arrowFormat = &format{
	name: "Arrow", short: "Arrow", extensions: []string{".arrow", ".arrows", ".feather"},
	begins: arrowio.IsArrow, open: openArrow,
}

// arrowSlice is how much of a large batch is read at a time: it stays in a processor's cache
// until its rows are copied.
const arrowSlice = 1 << 20

func newArrowReader(in *input) (*arrowio.Reader, error) {
	source := io.Reader(in)
	if in.file != nil { // Arrow files need random access
		if _, err := in.file.Seek(0, io.SeekStart); err != nil {
			return nil, readError(err)
		}
		source = in.file
	}
	return arrowio.NewReader(source, in.name, arrowio.ReadOptions{Budget: in.mem, Slice: arrowSlice})
}

// readBatches reads batches of a schema.
func readBatches(ctx context.Context, schema *arrow.Schema, next records, ahead forecast, o Options, mem *arrowio.Budget) ([]*Table, error) {
	flat, _ := flatSchema(schema)
	plan, err := planned(&o, func(o Options) (*plan, error) { return planColumns(flat, o) })
	if err != nil {
		return nil, orNoRows(err, next)
	}
	return readRecords(ctx, flattened(schema, next), ahead, plan, o, mem)
}

// orNoRows is that there are no rows, if so: writers that know types from values give the
// columns of a table without rows the type null, which is not what is wrong with it.
func orNoRows(err error, next records) error {
	if errors.As(err, new(*MissingColumns)) {
		return err
	}
	for {
		rec, end := next()
		switch {
		case errors.Is(end, io.EOF):
			return errNoRows
		case end != nil || rec.NumRows() > 0:
			return err
		}
	}
}

// named puts the input's name before an error, unless it is there already.
func named(name string, err error) error {
	if err == nil {
		return nil
	}
	if at := (*arrowio.Error)(nil); errors.As(err, &at) && at.Input == name {
		return at
	}
	return fmt.Errorf("%s: %w", name, Limited(err))
}
