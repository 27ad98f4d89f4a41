package tables

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"mars.dev/mars/arrowio"
)

// batches are the rows of an input with columns, whatever its format.
type batches struct {
	schema *arrow.Schema
	next   records
	ahead  forecast
	close  func() // may be nil

	skipped []Skipped // what is no column and not read
	note    string    // see Table.Note
	doubt   string    // see Table.Doubt

	left     map[string]string // columns that are no features unless they are named, and why
	cofactor float64           // see Table.Cofactor
	hint     string            // see MissingColumns.Hint
}

func (b *batches) release() {
	if b.close != nil {
		b.close()
	}
}

// readBatchFormat reads the tables of a format that is read as batches.
func readBatchFormat(ctx context.Context, in *input, o Options) ([]*Table, error) {
	b, err := in.format.open(ctx, in, o)
	if err != nil {
		return nil, err
	}
	defer b.release()
	o.left, o.hint = b.left, b.hint
	tables, err := readBatches(ctx, b.schema, b.next, b.ahead, o, in.mem)
	for _, t := range tables {
		t.Skipped, t.Note, t.Cofactor = append(t.Skipped, b.skipped...), b.note, b.cofactor
		t.Doubt = cmp.Or(t.Doubt, b.doubt)
	}
	return tables, err
}

// Bounds of a batch that is made of text.
const (
	maxBatchRows  = 4096
	maxBatchCells = 1 << 18
	maxBatchBytes = 4 << 20
)

// columnCost is about the memory of a column beside its values.
const columnCost = 1 << 10

// A batchBuilder makes batches of rows.
type batchBuilder struct {
	*array.RecordBuilder
	most int // rows of a batch
	row  int // the last one, from 1
	last arrow.Record
}

// takeColumns takes the memory of the columns of a schema beside their values.
func takeColumns(mem *arrowio.Budget, schema *arrow.Schema) error {
	n := schema.NumFields()
	if err := mem.Take(int64(n) * columnCost); err != nil {
		return fmt.Errorf("%d columns: %w", n, err)
	}
	return nil
}

func newBatchBuilder(schema *arrow.Schema, mem *arrowio.Budget) (*batchBuilder, error) {
	if err := takeColumns(mem, schema); err != nil {
		return nil, err
	}
	columns := schema.NumFields()
	return &batchBuilder{RecordBuilder: array.NewRecordBuilder(&budgetAllocator{Allocator: memory.DefaultAllocator, mem: mem}, schema), most: min(max(maxBatchCells/max(columns, 1), 1), maxBatchRows)}, nil
}

// batch calls row until it returns io.EOF or enough rows are there. row says how many bytes
// the row has.
func (b *batchBuilder) batch(row func() (bytes int, err error)) (_ arrow.Record, err error) {
	defer func() {
		if limit := refusal(recover()); limit != nil {
			err = fmt.Errorf("row %d: %w", b.row, limit)
		}
	}()
	b.forget()
	rows, size := 0, 0
	for rows < b.most && size < maxBatchBytes {
		b.row++
		n, err := row()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		rows++
		size += n
	}
	if rows == 0 {
		return nil, io.EOF
	}
	b.last = b.NewRecord()
	return b.last, nil
}

// forget releases the last batch.
func (b *batchBuilder) forget() {
	if b.last != nil {
		b.last.Release()
		b.last = nil
	}
}

func (b *batchBuilder) close() {
	b.forget()
	b.Release()
}

// openArrow opens an Arrow stream or file.
func openArrow(_ context.Context, in *input, _ Options) (*batches, error) {
	r, err := newArrowReader(in)
	if err != nil {
		return nil, err
	}
	if err := takeColumns(in.reading, r.Schema()); err != nil {
		r.Close()
		return nil, err
	}
	return &batches{schema: r.Schema(), next: r.Next, ahead: func() float64 { return claimOf(r.Progress()) }, close: func() { r.Close() }}, nil
}
