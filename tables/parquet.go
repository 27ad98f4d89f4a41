package tables

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/metadata"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/algorithms"
)

var parquetFormat = &format{
	name: "Parquet", short: "Parquet", looksLike: "a Parquet file", instead: readIt,
	extensions: []string{".parquet"}, begins: prefixes("PAR1"),
	read: readParquet, rows: parquetRowsOf,
}

const (
	// parquetBatch is how many rows of a Parquet file are decoded at a time, unless all
	// columns are numbers: then about numberCells cells, which stay in a processor's cache.
	parquetBatch  = 1024
	numberCells   = 1 << 18
	minNumberRows = 128
	maxNumberRows = 1 << 14
	// parquetBuffers is the memory of all columns' read buffers, if they are not
	// smaller than minBuffer or larger than the usual one.
	parquetBuffers    = 64 << 20
	minBuffer         = 1 << 10
	usualBuffer       = 16 << 10
	parquetColumnCost = 44 << 10 // of a column that is read, beside its buffer and pages
	footerCost        = 20       // of a footer in memory, for each of its bytes
	maxLook           = 64       // columns of text that are looked at
)

// readParquet reads a Parquet file. The library panics on some damaged files;
// here that becomes an error.
func readParquet(ctx context.Context, in *input, o Options) (t []*Table, err error) {
	err = withParquet(ctx, in, func(f *parquetFile) error {
		t, err = readParquetColumns(ctx, f, o, in.mem)
		return err
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// A parquetFile is one that is open.
type parquetFile struct {
	*file.Reader
	library    *pqarrow.FileReader
	schema     *arrow.Schema
	properties *parquet.ReaderProperties
	pages      *pageAllocator
	bytes      io.ReaderAt
	size       int64
}

// withParquet opens a file and reads it.
func withParquet(ctx context.Context, in *input, read func(*parquetFile) error) (err error) {
	var mem *budgetAllocator
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("is not valid Parquet (%v): copy or download it again", p)
		}
		if mem != nil && mem.failed != nil {
			err = fmt.Errorf("column %q: %w", mem.name, mem.failed)
		}
	}()
	r, size, err := in.whole(ctx)
	if err != nil {
		return err
	}
	mem = &budgetAllocator{Allocator: memory.DefaultAllocator, mem: in.reading}
	defer mem.settle()
	f, err := abandonable(ctx, func() (*parquetFile, error) { return openParquet(r, size, mem) })
	if err != nil {
		return err
	}
	defer f.Close()
	return read(f)
}

// openParquet reads the footer of a file.
func openParquet(r io.ReaderAt, size int64, mem *budgetAllocator) (*parquetFile, error) {
	pages := &pageAllocator{budgetAllocator: mem}
	properties := parquet.NewReaderProperties(pages)
	properties.BufferedStreamEnabled = true // otherwise it allocates what a column's length claims
	footer := &meteredReaderAt{r, mem.mem, footerCost}
	f, err := file.NewParquetReader(io.NewSectionReader(footer, 0, size), file.WithReadProps(properties))
	footer.mem = nil
	if err != nil {
		return nil, parquetError(err)
	}
	// The library decodes the writer's Arrow schema without checking its offsets.
	// Parquet's own types are enough.
	f.MetaData().FileMetaData.KeyValueMetadata = nil
	library, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{}, mem)
	if err != nil {
		return nil, parquetError(err)
	}
	schema, err := library.Schema()
	if err != nil {
		return nil, parquetError(err)
	}
	return &parquetFile{f, library, schema, properties, pages, r, size}, nil
}

func readParquetColumns(ctx context.Context, f *parquetFile, o Options, mem *arrowio.Budget) ([]*Table, error) {
	flat, top := flatSchema(f.schema)
	plan, err := planned(&o, func(o Options) (*plan, error) { return planColumns(flat, o) })
	if err != nil && f.NumRows() == 0 && !errors.As(err, new(*MissingColumns)) {
		err = errNoRows
	}
	if err != nil {
		return nil, err
	}
	uses := plan.needs()
	rows := newParquetRows(f, top, func(i int) bool { return uses[flat.Field(i).Name] })
	if err := rows.takeBuffers(); err != nil {
		return nil, err
	}
	defer rows.close()
	counted := plan.counted()
	text := newParquetRows(f, top, func(i int) bool { return counted[flat.Field(i).Name] })
	if err := text.look(ctx, plan); err != nil {
		return nil, err
	}
	seen := int64(0)
	next := func() (arrow.Record, error) {
		rec, err := rows.next(ctx)
		if err == nil {
			seen += rec.NumRows()
		}
		return rec, err
	}
	t, err := readRecords(ctx, flattened(f.schema, next), func() float64 { return claimOf(seen, f.NumRows()) }, plan, o, mem)
	if all := !o.OnlyIDs || plan.id >= 0; err == nil && all && seen != f.NumRows() {
		err = fmt.Errorf("announces %d rows, %d are there: copy or download it again", f.NumRows(), seen)
	}
	return t, err
}

// newParquetRows reads the columns that have one that used says is used; top are their
// columns in the schema.
func newParquetRows(f *parquetFile, top []int, used func(i int) bool) *parquetRows {
	rows := &parquetRows{parquetFile: f, packed: packedPages{mem: f.pages.mem}, leaves: map[int]bool{}}
	for i, field := range top {
		if last := len(rows.fields) - 1; used(i) && (last < 0 || rows.fields[last] != field) {
			rows.fields, rows.names = append(rows.fields, field), append(rows.names, f.schema.Field(field).Name)
		}
	}
	for i := range f.MetaData().Schema.NumColumns() {
		rows.leaves[i] = true
	}
	return rows
}

// takeBuffers takes the memory of the columns' buffers, which are the smaller the more there are.
func (r *parquetRows) takeBuffers() error {
	n := len(r.fields)
	r.properties.BufferSize = int64(min(max(parquetBuffers/max(n, 1), minBuffer), usualBuffer))
	if err := r.pages.mem.Take(int64(n) * (r.properties.BufferSize + parquetColumnCost)); err != nil {
		return fmt.Errorf("%d columns: %w", n, err)
	}
	return nil
}

// look counts the values of columns of text in the file's first rows: enough to name
// categories that are not read.
func (r *parquetRows) look(ctx context.Context, p *plan) error {
	for k := range p.skipped {
		p.skipped[k].tally.sampled = true
	}
	if len(r.fields) == 0 || len(r.fields) > maxLook || r.NumRows() == 0 {
		return nil
	}
	defer r.close()
	rec, err := r.next(ctx)
	if err != nil {
		return err
	}
	flat := flatRecord(rec)
	defer flat.Release()
	return (&recordBlock{rec: flat, plan: p}).tally(nil)
}

// parquetRows reads the rows of some fields of a file, one row group after
// another, because the library cannot read lists across row groups. Columns of
// numbers are read side by side, by several threads. The library reads the others,
// field by field in this goroutine: its own record reader starts other goroutines,
// whose panics cannot be recovered.
type parquetRows struct {
	*parquetFile
	fields []int // indices in the schema
	names  []string
	leaves map[int]bool // all of them

	group   int   // the next row group
	left    int64 // rows of the current group
	batch   int64 // rows that are read at a time
	columns []parquetColumn
	packed  packedPages
	record  arrow.Record
}

// A parquetColumn reads a field of a row group.
type parquetColumn struct {
	numbers numberColumn          // nil: the field is none of numbers
	library *pqarrow.ColumnReader // nil: numbers read it
}

func (r *parquetRows) next(ctx context.Context) (arrow.Record, error) {
	for r.left == 0 {
		if r.group == r.NumRowGroups() {
			return nil, io.EOF
		}
		if err := r.open(ctx); err != nil {
			return nil, parquetError(err)
		}
	}
	n := min(r.left, r.batch)
	arrays := make([]arrow.Array, len(r.columns))
	defer func() {
		for _, values := range arrays {
			if values != nil {
				values.Release()
			}
		}
	}()
	if err := r.read(ctx, arrays, n); err != nil {
		return nil, err
	}
	fields := make([]arrow.Field, len(r.columns))
	for k, values := range arrays {
		fields[k] = arrow.Field{Name: r.names[k], Type: values.DataType(), Nullable: true}
	}
	r.left -= n
	r.releaseRecord()
	r.record = array.NewRecord(arrow.NewSchema(fields, nil), arrays, n)
	return r.record, nil
}

// read reads n rows of all columns.
func (r *parquetRows) read(ctx context.Context, arrays []arrow.Array, n int64) error {
	errs := make([]error, len(arrays))
	err := algorithms.Each(len(arrays), func(k int) error {
		if c := r.columns[k]; c.library == nil {
			arrays[k], errs[k] = c.numbers.next(int(n))
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	for k, column := range r.columns {
		if err := ctx.Err(); err != nil {
			return err
		}
		if errors.Is(errs[k], errUnusual) {
			errs[k] = r.leave(ctx, k)
			column = r.columns[k]
		}
		if errs[k] == nil && column.library != nil {
			r.pages.column, r.pages.name = k, r.names[k]
			arrays[k], errs[k] = nextArray(column.library, n, r.pages.budgetAllocator)
		}
		if errs[k] != nil {
			return fmt.Errorf("row group %d, column %q: %w", r.group, r.names[k], parquetError(errs[k]))
		}
	}
	return nil
}

// open goes to the next row group.
func (r *parquetRows) open(ctx context.Context) error {
	r.releaseRecord()
	r.releaseColumns()
	r.begin()
	group := r.MetaData().RowGroup(r.group)
	r.left = group.NumRows()
	r.group++
	for k := range r.columns {
		err := errUnusual
		if c := r.columns[k].numbers; c != nil {
			var chunk *metadata.ColumnChunkMetaData
			if chunk, err = group.ColumnChunk(r.field(k).ColIndex); err == nil {
				err = c.open(ctx, r.bytes, chunk, r.size)
			}
		}
		if errors.Is(err, errUnusual) {
			err = r.leave(ctx, k)
		}
		if err != nil {
			return fmt.Errorf("row group %d, column %q: %w", r.group, r.names[k], err)
		}
	}
	return nil
}

// begin finds the columns of numbers.
func (r *parquetRows) begin() {
	if r.columns != nil {
		return
	}
	r.columns, r.batch = make([]parquetColumn, len(r.fields)), min(max(numberCells/int64(max(len(r.fields), 1)), minNumberRows), maxNumberRows)
	for k := range r.columns {
		if r.columns[k].numbers = newNumberColumn(r.pages.mem, &r.packed, r.parquetFile, r.field(k)); r.columns[k].numbers == nil {
			r.batch = parquetBatch // rows of others may be of any size
		}
	}
}

func (r *parquetRows) field(k int) *pqarrow.SchemaField {
	return &r.library.Manifest.Fields[r.fields[k]]
}

// leave leaves a column to the library from the next row of the group on.
func (r *parquetRows) leave(ctx context.Context, k int) error {
	r.pages.column, r.pages.name = k, r.names[k]
	if err := r.checkPages(ctx, r.field(k)); err != nil {
		return err
	}
	column, err := r.library.GetFieldReader(ctx, r.fields[k], r.leaves, []int{r.group - 1})
	if err != nil {
		return err
	}
	r.columns[k].library = column
	for read := r.MetaData().RowGroup(r.group-1).NumRows() - r.left; read > 0; read -= parquetBatch {
		values, err := nextArray(column, min(read, parquetBatch), r.pages.budgetAllocator)
		if err != nil {
			return err
		}
		values.Release()
	}
	return nil
}

// checkPages checks the pages of a field in the row group, and takes memory for its
// dictionaries. The library keeps each as long as it reads the group, as it is and value by value, and makes room for
// as many values as it claims.
func (r *parquetRows) checkPages(ctx context.Context, field *pqarrow.SchemaField) error {
	for i := range field.Children {
		if err := r.checkPages(ctx, &field.Children[i]); err != nil {
			return err
		}
	}
	if !field.IsLeaf() {
		return nil
	}
	pages, err := r.RowGroup(r.group - 1).GetColumnPageReader(field.ColIndex)
	if err != nil {
		return err
	}
	column, rows := r.MetaData().Schema.Column(field.ColIndex), r.MetaData().RowGroup(r.group-1).NumRows()
	for pages.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		dictionary, ok := pages.Page().(*file.DictionaryPage)
		if !ok {
			// The library reads these in one piece or not at all.
			if e := pages.Page().Encoding(); e == encodedSplit || e == encodedDeltas && rows > parquetBatch {
				return fmt.Errorf("the encoding %v, which is read of columns of plain numbers alone", e)
			}
			if err := checkPage(pages.Page(), column); err != nil {
				return err
			}
			continue
		}
		values, size := int64(dictionary.NumValues()), int64(len(dictionary.Data()))
		least, inMemory := valueSize(column)
		if err := checkDictionary(values, least, size); err != nil {
			return err
		}
		if err := r.pages.take(size + values*inMemory); err != nil {
			return err
		}
	}
	return pages.Err()
}

// checkDictionary returns an error if a dictionary of so many bytes cannot have so many
// values.
func checkDictionary(values, least, size int64) error {
	if values*least > size {
		return fmt.Errorf("a dictionary of %d bytes claims %d values", size, values)
	}
	return nil
}

// valueSize is the number of bytes that a value of a dictionary takes at least in a file,
// and that it takes in memory beside them.
func valueSize(column *schema.Column) (least, inMemory int64) {
	switch column.PhysicalType() {
	case parquet.Types.ByteArray:
		return 4, 24 // a length, and a slice
	case parquet.Types.FixedLenByteArray:
		return max(int64(column.TypeLength()), 1), 24
	case parquet.Types.Int32, parquet.Types.Float:
		return 4, 4
	case parquet.Types.Int96:
		return 12, 12
	}
	return 8, 8
}

// nextArray reads n values of a column.
func nextArray(column *pqarrow.ColumnReader, n int64, mem memory.Allocator) (arrow.Array, error) {
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
	return array.Concatenate(chunked.Chunks(), mem)
}

func (r *parquetRows) releaseRecord() {
	if r.record != nil {
		r.record.Release()
		r.record = nil
	}
}

// releaseColumns forgets what was read of the row group.
func (r *parquetRows) releaseColumns() {
	for k := range r.columns {
		if c := &r.columns[k]; c.library != nil {
			c.library.Release()
			c.library = nil
		}
	}
	r.pages.held = make([]int64, len(r.fields))
	r.pages.settle()
}

func (r *parquetRows) close() {
	r.releaseRecord()
	r.releaseColumns()
	for _, c := range r.columns {
		if c.numbers != nil {
			c.numbers.close()
		}
	}
	r.columns = nil
	r.packed.close()
}

// A budgetAllocator takes what it allocates from mem. It panics if that is not
// enough, which readParquet turns into the error failed.
type budgetAllocator struct {
	memory.Allocator
	mem    *arrowio.Budget
	used   atomic.Int64 // of mem; finalizers free too
	failed error
	name   string // of the column that is read
}

// refusal is the error of a panic of a budgetAllocator, nil without a panic.
func refusal(panicked any) error {
	if panicked == nil {
		return nil
	}
	limit, ok := panicked.(*arrowio.LimitError)
	if !ok {
		panic(panicked)
	}
	return limit
}

func (a *budgetAllocator) Allocate(size int) []byte {
	err := a.mem.Take(int64(size))
	for try := 0; err != nil && try < 3; try++ { // the library leaves buffers to finalizers
		runtime.GC()
		time.Sleep(time.Millisecond)
		err = a.mem.Take(int64(size))
	}
	if err != nil {
		a.failed = err
		panic(err)
	}
	a.used.Add(int64(size))
	return a.Allocator.Allocate(size)
}

func (a *budgetAllocator) Reallocate(size int, b []byte) []byte {
	if size <= cap(b) {
		return b[:size]
	}
	grown := a.Allocate(size)
	copy(grown, b)
	a.Free(b)
	return grown
}

func (a *budgetAllocator) Free(b []byte) {
	a.used.Add(-int64(cap(b)))
	a.mem.Give(int64(cap(b)))
	a.Allocator.Free(b)
}

// A pageAllocator allocates pages. The library frees a page when it has read it and keeps
// it nevertheless, and beside it a buffer for what was packed. So the largest page of each
// column is held twice, until settle.
type pageAllocator struct {
	*budgetAllocator
	column int     // the one that is read
	held   []int64 // for each column
}

func (a *pageAllocator) Allocate(size int) []byte {
	b := a.budgetAllocator.Allocate(size)
	if err := a.hold(int64(size)); err != nil {
		a.failed = err
		panic(err)
	}
	return b
}

// hold takes memory for a page, beyond that for smaller ones.
func (a *pageAllocator) hold(size int64) error {
	more := size - a.held[a.column]
	if more <= 0 {
		return nil
	}
	if err := a.take(2 * more); err != nil {
		return err
	}
	a.held[a.column] = size
	return nil
}

// take takes memory until settle.
func (a *budgetAllocator) take(n int64) error {
	err := a.mem.Take(n)
	if err == nil {
		a.used.Add(n)
	}
	return err
}

// settle gives back what the library has not freed of what it no longer uses.
func (a *budgetAllocator) settle() { a.mem.Give(a.used.Swap(0)) }

func parquetError(err error) error {
	if limit := (*arrowio.LimitError)(nil); errors.As(err, &limit) {
		return err
	}
	return fmt.Errorf("is not valid Parquet, or of a kind that cannot be read (%w): copy it again, or write it with plain types and encodings", err)
}
