package tables

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"mars.dev/mars/arrowio"
)

// Columns are the names and types of the columns of a table that EachBatch can give: not
// lists. Fields of structs are columns of their own, as in pos.x. Of several files they are
// those of any, in the order in which they are found; the names of those that not all have
// with one type are uneven, and text where types differ. Only what HasBlocks.
func Columns(ctx context.Context, path string, o Options) (columns []arrow.Field, uneven []string, err error) {
	paths, err := Expand(path)
	if err != nil {
		return nil, nil, err
	}
	files := map[string]int{} // how many have the column
	first := map[string]int{} // where it is among the columns
	for k, path := range paths {
		err := openRows(ctx, path, o, func(schema *arrow.Schema, _ records, _ int) error {
			for _, f := range schema.Fields() {
				if arrow.IsNested(f.Type.ID()) || f.Name == "" || hashedName.MatchString(f.Name) { // hashes are no columns of a file
					continue
				}
				at, known := first[f.Name]
				if !known {
					first[f.Name] = len(columns)
				}
				switch {
				case !known, k == 0: // or twice in one file
					columns = append(columns, arrow.Field{Name: f.Name, Type: f.Type, Nullable: true})
				case !arrow.TypeEqual(columns[at].Type, f.Type):
					columns[at].Type = arrow.BinaryTypes.String
					continue // so that it is counted as uneven
				}
				files[f.Name]++
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	for _, f := range columns {
		if files[f.Name] < len(paths) {
			uneven = append(uneven, f.Name)
		}
	}
	return columns, uneven, nil
}

// EachBatch gives the rows of a table in batches of columns, as they are: text as text, and
// what Parquet and Arrow hold in its own type. A column that a file of several lacks is null,
// and one of another type becomes text. Of a table with a column of domains it gives the
// rows of the options' only Part. A batch is valid until the call returns. Only what
// HasBlocks.
func EachBatch(ctx context.Context, path string, o Options, columns []arrow.Field, each func(arrow.Record) error) error {
	paths, err := Expand(path)
	if err != nil {
		return err
	}
	o.Each = func(*Table) error { return nil } // no labels and identities are kept
	if o.Memory == nil {
		o.Memory = arrowio.NewBudget(0)
	}
	kept := map[string]bool{o.Domain: true}
	for _, f := range columns {
		kept[f.Name] = true
	}
	o.only = func(f arrow.Field) bool { return kept[f.Name] }
	for _, path := range paths {
		if err := eachBatch(ctx, path, o, arrow.NewSchema(columns, nil), each); err != nil {
			return err
		}
	}
	return nil
}

// EachWanted gives the rows of a table in batches of the columns that are wanted, as EachBatch does, but
// of each file those that it has, in their own types, lists too where a format gives them. The path may be
// "-" or a pipe, which is read once.
func EachWanted(ctx context.Context, path string, o Options, wanted func(arrow.Field) bool, each func(arrow.Record) error) error {
	paths, err := Expand(path)
	if err != nil {
		return err
	}
	o.Each = func(*Table) error { return nil } // no labels and identities are kept
	o.only = wanted
	for _, path := range paths {
		err := openRows(ctx, path, o, func(schema *arrow.Schema, next records, _ int) error {
			return eachWanted(schema, next, wanted, each)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ReadWanted is EachWanted of what r gives. Where that has no row it gives a batch without rows, which has the columns.
func ReadWanted(ctx context.Context, r io.Reader, name string, o Options, wanted func(arrow.Field) bool, each func(arrow.Record) error) error {
	o.Each = func(*Table) error { return nil } // no labels and identities are kept
	o.only = wanted
	return readRows(ctx, r, name, o, func(schema *arrow.Schema, next records, _ int) error {
		given := false
		err := eachWanted(schema, next, wanted, func(rec arrow.Record) error {
			given = true
			return each(rec)
		})
		if err != nil || given {
			return err
		}
		fields := slices.DeleteFunc(slices.Clone(schema.Fields()), func(f arrow.Field) bool { return !wanted(f) })
		none := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil)).NewRecord()
		defer none.Release()
		return each(none)
	})
}

// eachWanted is EachWanted of one file.
func eachWanted(schema *arrow.Schema, next records, wanted func(arrow.Field) bool, each func(arrow.Record) error) error {
	var at []int
	var fields []arrow.Field
	for i, f := range schema.Fields() {
		if wanted(f) {
			at, fields = append(at, i), append(fields, f)
		}
	}
	metadata := schema.Metadata()
	kept := arrow.NewSchema(fields, &metadata)
	for {
		rec, err := next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		columns := make([]arrow.Array, len(at))
		for k, i := range at {
			columns[k] = rec.Column(i)
		}
		part := array.NewRecord(kept, columns, rec.NumRows())
		err = each(part)
		part.Release()
		if err != nil {
			return err
		}
	}
}

// eachBatch is EachBatch of one file.
func eachBatch(ctx context.Context, path string, o Options, kept *arrow.Schema, each func(arrow.Record) error) error {
	return openRows(ctx, path, o, func(schema *arrow.Schema, next records, domain int) error {
		split := newSplitter(o, o.Memory)
		at := make([]int, kept.NumFields())
		changed := map[string]bool{o.Domain: o.Domain != ""} // columns that become text
		for k, f := range kept.Fields() {
			switch i := schema.FieldIndices(f.Name); {
			case len(i) > 1:
				return fmt.Errorf("has several columns %q: give each a name of its own", f.Name)
			case len(i) == 1:
				at[k] = i[0]
				changed[f.Name] = changed[f.Name] || !arrow.TypeEqual(schema.Field(i[0]).Type, f.Type)
			default:
				at[k] = -1
			}
		}
		for {
			rec, err := next()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			err = charged(o.Memory, rec, func(name string) bool { return changed[name] }, func() error {
				runs, err := runsOf(rec, domain, split)
				for _, run := range runs {
					if err == nil {
						err = giveRun(rec, kept, at, run, each)
					}
				}
				return err
			})
			if err != nil {
				return err
			}
		}
	})
}

// giveRun gives some columns of some rows of a batch.
func giveRun(rec arrow.Record, kept *arrow.Schema, at []int, run [2]int64, each func(arrow.Record) error) error {
	columns := make([]arrow.Array, len(at))
	for k, i := range at {
		columns[k] = columnRun(rec, i, kept.Field(k).Type, run)
	}
	part := array.NewRecord(kept, columns, run[1]-run[0])
	defer part.Release()
	for _, c := range columns {
		c.Release()
	}
	return each(part)
}

// columnRun is column i in some rows of a batch, nulls if i is −1.
func columnRun(rec arrow.Record, i int, t arrow.DataType, run [2]int64) arrow.Array {
	if i < 0 {
		return array.MakeArrayOfNull(memory.DefaultAllocator, t, int(run[1]-run[0]))
	}
	column := rec.Column(i)
	if arrow.TypeEqual(column.DataType(), t) {
		return array.NewSlice(column, run[0], run[1])
	}
	text := array.NewStringBuilder(memory.DefaultAllocator)
	defer text.Release()
	for row := run[0]; row < run[1]; row++ {
		if value, ok := arrowio.Cell(column, int(row)); ok {
			text.Append(value)
		} else {
			text.AppendNull()
		}
	}
	return text.NewArray()
}

// withFile adds the column that says which file a row is of.
func withFile(schema *arrow.Schema, next records, name, path string) (*arrow.Schema, records, error) {
	if schema.HasField(name) {
		return nil, nil, fmt.Errorf("has a column %q: give --file-column another name", name)
	}
	with := arrow.NewSchema(append(slices.Clone(schema.Fields()), arrow.Field{Name: name, Type: arrow.BinaryTypes.String, Nullable: true}), nil)
	var last arrow.Record
	return with, func() (arrow.Record, error) {
		if last != nil {
			last.Release()
			last = nil
		}
		rec, err := next()
		if err != nil {
			return nil, err
		}
		files := arrowio.NewStringArray(slices.Repeat([]string{path}, int(rec.NumRows())))
		defer files.Release()
		last = array.NewRecord(with, append(slices.Clone(rec.Columns()), files), rec.NumRows())
		return last, nil
	}, nil
}

// runsOf are the bounds [from, to) of the rows of a batch that are of the only part.
func runsOf(rec arrow.Record, domain int, split *splitter) (runs [][2]int64, err error) {
	if domain < 0 {
		return [][2]int64{{0, rec.NumRows()}}, nil
	}
	values, err := domainsOf(rec, rec.ColumnName(domain))
	if err != nil {
		return nil, err
	}
	for i, value := range values {
		k, err := split.part(value)
		if err != nil {
			return nil, err
		}
		switch last := len(runs) - 1; {
		case k < 0:
		case last >= 0 && runs[last][1] == int64(i):
			runs[last][1]++
		default:
			runs = append(runs, [2]int64{int64(i), int64(i) + 1})
		}
	}
	return runs, nil
}

// openRows opens a table and calls read with its schema, without structs, its batches, and
// the index of the column of domains, −1 if there is none.
func openRows(ctx context.Context, path string, o Options, read func(*arrow.Schema, records, int) error) error {
	f, err := openRead(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if path == "-" {
		path = StandardInput
	}
	return readRows(ctx, f, path, o, read)
}

// readRows is openRows of what r gives.
func readRows(ctx context.Context, r io.Reader, path string, o Options, read func(*arrow.Schema, records, int) error) error {
	if o.Memory == nil {
		o.Memory = arrowio.NewBudget(0)
	}
	in, err := newInput(ctx, r, path, o)
	if err != nil {
		return named(path, err)
	}
	defer in.reading.Close()
	flat := func(schema *arrow.Schema, next records) error {
		columns, _ := flatSchema(schema)
		domain := -1
		if o.Domain != "" {
			i := columns.FieldIndices(o.Domain)
			if len(i) != 1 {
				return fmt.Errorf("has no column %q", o.Domain)
			}
			domain = i[0]
		}
		next = flattened(schema, next)
		if o.FileColumn != "" {
			var err error
			if columns, next, err = withFile(columns, next, o.FileColumn, path); err != nil {
				return err
			}
		}
		return read(columns, next, domain)
	}
	return named(path, openColumns(ctx, in, o, flat))
}

// openRead opens a file, or standard input.
func openRead(path string) (io.ReadCloser, error) {
	if path == "-" {
		return io.NopCloser(arrowio.StandardInput()), nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, absent(path, err)
	}
	return f, nil
}

// openColumns opens an input with columns and calls read with its schema and batches.
func openColumns(ctx context.Context, in *input, o Options, read func(*arrow.Schema, records) error) error {
	if in.format.rows != nil {
		return in.format.rows(ctx, in, o, read)
	}
	return openBatches(ctx, in, o, read)
}

// parquetRowsOf reads the columns of a Parquet file, lists only if the options say so.
func parquetRowsOf(ctx context.Context, in *input, o Options, read func(*arrow.Schema, records) error) error {
	return withParquet(ctx, in, func(f *parquetFile) error {
		flat, top := flatSchema(f.schema)
		rows := newParquetRows(f, top, func(i int) bool {
			t := f.schema.Field(top[i]).Type.ID()
			return (o.lists || !arrow.IsNested(t) || t == arrow.STRUCT) && (o.only == nil || o.only(flat.Field(i)))
		})
		if err := rows.takeBuffers(); err != nil {
			return err
		}
		defer rows.close()
		return read(rows.rowSchema(), func() (arrow.Record, error) { return rows.next(ctx) })
	})
}

// schemaCost is about the memory of a column in a schema.
const schemaCost = 300

// takeSchema takes the memory of a schema of n columns, before it is made.
func takeSchema(mem *arrowio.Budget, n int) error {
	if err := mem.Take(int64(n) * schemaCost); err != nil {
		return fmt.Errorf("%d columns: %w", n, err)
	}
	return nil
}

// textBatches reads a text table as columns of text.
func textBatches(ctx context.Context, in *input, o Options, read func(*arrow.Schema, records) error) error {
	r, err := newTextReader(in, o)
	if err != nil {
		return err
	}
	defer r.close()
	if err := takeSchema(in.reading, len(r.header)); err != nil {
		return err
	}
	var fields []arrow.Field
	var at []int
	for i, name := range r.header { // a million columns take their time
		if err := ended(ctx, i); err != nil {
			return err
		}
		if f := (arrow.Field{Name: name, Type: arrow.BinaryTypes.String, Nullable: true}); o.only == nil || o.only(f) || i == 0 { // of no column nobody could count the rows
			fields, at = append(fields, f), append(at, i)
		}
	}
	schema := arrow.NewSchema(fields, nil)
	if err := ctx.Err(); err != nil {
		return err
	}
	b, err := newBatchBuilder(schema, in.reading)
	if err != nil {
		return err
	}
	defer b.close()
	return read(schema, func() (arrow.Record, error) {
		return b.batch(func() (size int, err error) {
			record, err := r.next()
			if err != nil {
				return 0, err
			}
			for k, i := range at {
				b.Field(k).(*array.StringBuilder).Append(record.fields[i])
				size += len(record.fields[i])
			}
			return size, ctx.Err()
		})
	})
}

// openBatches reads what has batches of its own.
func openBatches(ctx context.Context, in *input, o Options, read func(*arrow.Schema, records) error) error {
	open := in.format.open
	if open == nil {
		return fmt.Errorf("is %s, which has no named columns", in.format.name)
	}
	b, err := open(ctx, in, o)
	if err != nil {
		return err
	}
	defer b.release()
	return read(b.schema, b.next)
}

// rowSchema is that of the batches.
func (r *parquetRows) rowSchema() *arrow.Schema {
	fields := make([]arrow.Field, len(r.fields))
	for k, i := range r.fields {
		fields[k] = r.schema.Field(i)
	}
	return arrow.NewSchema(fields, nil)
}
