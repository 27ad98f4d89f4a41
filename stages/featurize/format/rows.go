package format

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
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"mars.dev/mars/arrowio"
)

// textRows is how many rows of text EachBatch gives at a time.
const textRows = 4096

// Columns are the names and types of the columns of a table that EachBatch can give: not
// lists. Fields of structs are columns of their own, as in pos.x. Of several files they are
// those that all have, with one type. Only what HasBlocks.
func Columns(ctx context.Context, path string, o Options) ([]arrow.Field, error) {
	paths, err := Expand(path)
	if err != nil {
		return nil, err
	}
	var all []arrow.Field
	for k, path := range paths {
		var fields []arrow.Field
		err := openRows(ctx, path, o, func(schema *arrow.Schema, _ records, _ int) error {
			for _, f := range schema.Fields() {
				if !arrow.IsNested(f.Type.ID()) && f.Name != "" && !hashedName.MatchString(f.Name) { // hashes are no columns of a file
					fields = append(fields, arrow.Field{Name: f.Name, Type: f.Type, Nullable: true})
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if k == 0 {
			all = fields
			continue
		}
		all = slices.DeleteFunc(all, func(f arrow.Field) bool {
			return !slices.ContainsFunc(fields, func(other arrow.Field) bool { return other.Name == f.Name && arrow.TypeEqual(other.Type, f.Type) })
		})
	}
	return all, nil
}

// EachBatch gives the rows of a table in batches of the named columns, as they are: text as
// text, and what Parquet and Arrow hold in its own type. Of a table with a column of
// domains it gives the rows of the options' only Part. A batch is valid until the call
// returns. Only what HasBlocks.
func EachBatch(ctx context.Context, path string, o Options, names []string, each func(arrow.Record) error) error {
	paths, err := Expand(path)
	if err != nil {
		return err
	}
	o.Each = func(*Table) error { return nil } // no labels and identities are kept
	for _, path := range paths {
		if err := eachBatch(ctx, path, o, names, each); err != nil {
			return err
		}
	}
	return nil
}

// eachBatch is EachBatch of one file.
func eachBatch(ctx context.Context, path string, o Options, names []string, each func(arrow.Record) error) error {
	return openRows(ctx, path, o, func(schema *arrow.Schema, next records, domain int) error {
		split := newSplitter(o, o.Memory)
		var fields []arrow.Field
		var at []int
		for _, name := range names {
			i := schema.FieldIndices(name)
			if len(i) != 1 {
				return fmt.Errorf("%s: has no column %q", path, name)
			}
			at, fields = append(at, i[0]), append(fields, schema.Field(i[0]))
		}
		kept := arrow.NewSchema(fields, nil)
		for {
			rec, err := next()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			runs, err := runsOf(rec, domain, split)
			if err != nil {
				return err
			}
			for _, run := range runs {
				if err := giveRun(rec, kept, at, run, each); err != nil {
					return err
				}
			}
		}
	})
}

// giveRun gives some columns of some rows of a batch.
func giveRun(rec arrow.Record, kept *arrow.Schema, at []int, run [2]int64, each func(arrow.Record) error) error {
	columns := make([]arrow.Array, len(at))
	for k, i := range at {
		columns[k] = array.NewSlice(rec.Column(i), run[0], run[1])
	}
	part := array.NewRecord(kept, columns, run[1]-run[0])
	defer part.Release()
	for _, c := range columns {
		c.Release()
	}
	return each(part)
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
	if o.Memory == nil {
		o.Memory = arrowio.NewBudget(0)
	}
	f, err := os.Open(path)
	if err != nil {
		return absent(path, err)
	}
	defer f.Close()
	in, err := newInput(ctx, f, path, o)
	if err != nil {
		return named(path, err)
	}
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
	switch in.kind {
	case kindText:
		err = textBatches(in, o, flat)
	case kindParquet:
		err = withParquet(ctx, in, func(f *file.Reader, _ *parquet.ReaderProperties, pages *pageAllocator) error {
			r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{}, pages.budgetAllocator)
			if err != nil {
				return parquetError(err)
			}
			schema, err := r.Schema()
			if err != nil {
				return parquetError(err)
			}
			_, top := flatSchema(schema)
			rows := newParquetRows(f, r, schema, top, pages, func(i int) bool {
				return !arrow.IsNested(schema.Field(top[i]).Type.ID()) || schema.Field(top[i]).Type.ID() == arrow.STRUCT
			})
			defer rows.close()
			return flat(rows.schema(schema), func() (arrow.Record, error) { return rows.next(ctx) })
		})
	default:
		err = openBatches(ctx, in, o, flat)
	}
	if err != nil {
		return named(path, err)
	}
	return nil
}

// textBatches reads a text table as columns of text.
func textBatches(in *input, o Options, read func(*arrow.Schema, records) error) error {
	r, err := newTextReader(in, o)
	if err != nil {
		return err
	}
	defer r.close()
	var fields []arrow.Field
	for _, name := range r.header {
		fields = append(fields, arrow.Field{Name: name, Type: arrow.BinaryTypes.String, Nullable: true})
	}
	schema := arrow.NewSchema(fields, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	var rec arrow.Record
	release := func() {
		if rec != nil {
			rec.Release()
			rec = nil
		}
	}
	defer release()
	return read(schema, func() (arrow.Record, error) {
		release()
		n := 0
		for ; n < textRows; n++ {
			record, err := r.next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, err
			}
			for i, field := range record.fields {
				b.Field(i).(*array.StringBuilder).Append(field)
			}
		}
		if n == 0 {
			return nil, io.EOF
		}
		rec = b.NewRecord()
		return rec, nil
	})
}

// openBatches reads what has batches of its own.
func openBatches(ctx context.Context, in *input, o Options, read func(*arrow.Schema, records) error) error {
	open := batchFormats[in.kind]
	if open == nil {
		return fmt.Errorf("is %s, which has no named columns", in.kind)
	}
	b, err := open(ctx, in, o)
	if err != nil {
		return err
	}
	defer b.release()
	return read(b.schema, b.next)
}

// schema is that of the batches.
func (r *parquetRows) schema(whole *arrow.Schema) *arrow.Schema {
	var fields []arrow.Field
	for i, f := range whole.Fields() {
		if slices.Contains(r.fields, i) {
			fields = append(fields, f)
		}
	}
	return arrow.NewSchema(fields, nil)
}
