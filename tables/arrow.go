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

func newArrowReader(in *input) (*arrowio.Reader, error) {
	source := io.Reader(in)
	if in.file != nil { // Arrow files need random access
		if _, err := in.file.Seek(0, io.SeekStart); err != nil {
			return nil, readError(err)
		}
		source = in.file
	}
	return arrowio.NewReader(source, in.name, arrowio.ReadOptions{Budget: in.mem})
}

// readBatches reads batches of a schema.
func readBatches(ctx context.Context, schema *arrow.Schema, next records, ahead forecast, o Options, mem *arrowio.Budget) ([]*Table, error) {
	flat, _ := flatSchema(schema)
	plan, err := planColumns(flat, o)
	if err != nil {
		return nil, err
	}
	return readRecords(ctx, flattened(schema, next), ahead, plan, o, mem)
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
