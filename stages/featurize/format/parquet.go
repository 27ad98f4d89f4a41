package format

import (
	"context"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

const (
	// parquetBatch is how many rows of a Parquet file are decoded at a time.
	parquetBatch = 1024
	// parquetPage is the most that the library may allocate at once. A damaged
	// page header could ask for any size.
	parquetPage = 1 << 30
)

// readParquet reads a Parquet file. The library panics on some damaged files;
// here that becomes an error.
func readParquet(ctx context.Context, in *input, o Options) (t *Table, err error) {
	defer func() {
		if p := recover(); p != nil {
			t, err = nil, fmt.Errorf("is not valid Parquet (%v): copy or download it again", p)
		}
	}()
	r, size, err := in.whole(ctx)
	if err != nil {
		return nil, err
	}
	mem := cappedAllocator{memory.DefaultAllocator}
	properties := parquet.NewReaderProperties(mem)
	properties.BufferedStreamEnabled = true // otherwise it allocates what a column's length claims
	f, err := file.NewParquetReader(io.NewSectionReader(r, 0, size), file.WithReadProps(properties))
	if err != nil {
		return nil, parquetError(err)
	}
	defer f.Close()
	// The library decodes the writer's Arrow schema without checking its offsets.
	// Parquet's own types are enough.
	f.MetaData().FileMetaData.KeyValueMetadata = nil
	return readParquetColumns(ctx, f, o)
}

func readParquetColumns(ctx context.Context, f *file.Reader, o Options) (*Table, error) {
	r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{}, cappedAllocator{memory.DefaultAllocator})
	if err != nil {
		return nil, parquetError(err)
	}
	schema, err := r.Schema()
	if err != nil {
		return nil, parquetError(err)
	}
	plan, err := planColumns(schema, o)
	if err != nil {
		return nil, err
	}
	rows := &parquetRows{file: f, reader: r, leaves: map[int]bool{}}
	for i, field := range schema.Fields() {
		if plan.uses(field.Name) {
			rows.fields, rows.names = append(rows.fields, i), append(rows.names, field.Name)
		}
	}
	for i := range f.MetaData().Schema.NumColumns() {
		rows.leaves[i] = true
	}
	defer rows.close()
	next := func() (arrow.Record, error) { return rows.next(ctx) }
	t, err := readRecords(ctx, next, plan)
	if err == nil && int64(t.Features.Rows) != f.NumRows() {
		err = fmt.Errorf("announces %d rows, %d are there: copy or download it again", f.NumRows(), t.Features.Rows)
	}
	return t, err
}

// parquetRows reads the rows of some fields of a file, one row group after
// another, because the library cannot read lists across row groups. It reads
// field by field in this goroutine: the library's own record reader starts
// other goroutines, whose panics cannot be recovered.
type parquetRows struct {
	file   *file.Reader
	reader *pqarrow.FileReader
	fields []int // indices in the schema
	names  []string
	leaves map[int]bool // all of them

	group   int   // the next row group
	left    int64 // rows of the current group
	columns []*pqarrow.ColumnReader
	record  arrow.Record
}

func (r *parquetRows) next(ctx context.Context) (arrow.Record, error) {
	for r.left == 0 {
		if r.group == r.file.NumRowGroups() {
			return nil, io.EOF
		}
		if err := r.open(ctx); err != nil {
			return nil, parquetError(err)
		}
	}
	n := min(r.left, parquetBatch)
	arrays := make([]arrow.Array, len(r.columns))
	fields := make([]arrow.Field, len(r.columns))
	for k, column := range r.columns {
		values, err := nextArray(column, n)
		if err != nil {
			return nil, fmt.Errorf("row group %d, column %q: %w", r.group-1, r.names[k], parquetError(err))
		}
		defer values.Release()
		arrays[k] = values
		fields[k] = arrow.Field{Name: r.names[k], Type: values.DataType(), Nullable: true}
	}
	r.left -= n
	r.releaseRecord()
	r.record = array.NewRecord(arrow.NewSchema(fields, nil), arrays, n)
	return r.record, nil
}

// open goes to the next row group.
func (r *parquetRows) open(ctx context.Context) error {
	r.releaseColumns()
	for _, i := range r.fields {
		column, err := r.reader.GetFieldReader(ctx, i, r.leaves, []int{r.group})
		if err != nil {
			return err
		}
		r.columns = append(r.columns, column)
	}
	r.left = r.file.MetaData().RowGroup(r.group).NumRows()
	r.group++
	return nil
}

// nextArray reads n values of a column.
func nextArray(column *pqarrow.ColumnReader, n int64) (arrow.Array, error) {
	chunked, err := column.NextBatch(n)
	if err != nil {
		return nil, err
	}
	defer chunked.Release()
	if int64(chunked.Len()) != n {
		return nil, fmt.Errorf("%d of %d rows are there", chunked.Len(), n)
	}
	if chunks := chunked.Chunks(); len(chunks) == 1 {
		chunks[0].Retain()
		return chunks[0], nil
	}
	return array.Concatenate(chunked.Chunks(), memory.DefaultAllocator)
}

func (r *parquetRows) releaseRecord() {
	if r.record != nil {
		r.record.Release()
		r.record = nil
	}
}

func (r *parquetRows) releaseColumns() {
	for _, column := range r.columns {
		column.Release()
	}
	r.columns = nil
}

func (r *parquetRows) close() {
	r.releaseRecord()
	r.releaseColumns()
}

// A cappedAllocator panics if more than parquetPage is asked for at once.
// readParquet turns that into an error.
type cappedAllocator struct{ memory.Allocator }

func (a cappedAllocator) Allocate(size int) []byte {
	checkAllocation(size)
	return a.Allocator.Allocate(size)
}

func (a cappedAllocator) Reallocate(size int, b []byte) []byte {
	checkAllocation(size)
	return a.Allocator.Reallocate(size, b)
}

func checkAllocation(size int) {
	if size > parquetPage {
		panic(fmt.Sprintf("a page or batch claims to need %d bytes", size))
	}
}

func parquetError(err error) error {
	return fmt.Errorf("is not valid Parquet, or of a kind that cannot be read (%w): copy it again, or write it with plain types", err)
}
