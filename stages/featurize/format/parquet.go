package format

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

// parquetBatch is how many rows of a Parquet file are decoded at a time.
const parquetBatch = 8192

// readParquet reads a Parquet file. The library panics on some damaged files,
// which is an error here like any other damage.
func readParquet(in *input, o Options) (t *Table, err error) {
	defer func() {
		if p := recover(); p != nil {
			t, err = nil, fmt.Errorf("is not valid Parquet (%v): copy or download it again", p)
		}
	}()
	r, size, err := in.whole()
	if err != nil {
		return nil, err
	}
	f, err := file.NewParquetReader(io.NewSectionReader(r, 0, size))
	if err != nil {
		return nil, parquetError(err)
	}
	defer f.Close()
	return readParquetColumns(f, o)
}

func readParquetColumns(f *file.Reader, o Options) (*Table, error) {
	r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{BatchSize: parquetBatch}, memory.DefaultAllocator)
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
	rows := &parquetRows{file: r, leaves: leaves(f, plan), groups: f.NumRowGroups()}
	defer rows.close()
	t, err := readRecords(rows.next, plan)
	if err == nil && int64(t.Features.Rows) != f.NumRows() {
		err = fmt.Errorf("announces %d rows, %d are there: copy or download it again", f.NumRows(), t.Features.Rows)
	}
	return t, err
}

// leaves are the indices of the primitive columns that the plan's columns are
// stored in.
func leaves(f *file.Reader, p *columnPlan) []int {
	schema := f.MetaData().Schema
	var at []int
	for i := range schema.NumColumns() {
		if p.uses(schema.Column(i).ColumnPath()[0]) {
			at = append(at, i)
		}
	}
	return at
}

// parquetRows gives the rows of a file. It goes through one row group after the
// other because the library cannot read lists across them.
type parquetRows struct {
	file          *pqarrow.FileReader
	leaves        []int
	group, groups int
	reader        pqarrow.RecordReader // of the current group, nil between groups
}

func (r *parquetRows) next() (arrow.Record, error) {
	for {
		if r.reader == nil {
			if r.group == r.groups {
				return nil, io.EOF
			}
			reader, err := r.file.GetRecordReader(context.Background(), r.leaves, []int{r.group})
			if err != nil {
				return nil, parquetError(err)
			}
			r.reader = reader
			r.group++
		}
		rec, err := r.reader.Read()
		if err == nil {
			return rec, nil
		}
		r.close()
		if !errors.Is(err, io.EOF) {
			return nil, parquetError(err)
		}
	}
}

func (r *parquetRows) close() {
	if r.reader != nil {
		r.reader.Release()
		r.reader = nil
	}
}

func parquetError(err error) error {
	return fmt.Errorf("is not valid Parquet, or of a kind that cannot be read (%w): copy it again, or write it with plain types", err)
}
