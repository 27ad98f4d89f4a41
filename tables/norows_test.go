package tables

import (
	"bytes"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

// A table without rows is told of as such: what knows types from values gives its columns the
// type null, which is not what is wrong with it.
func TestTablesWithoutRowsAreToldOfAsSuch(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Float64, Nullable: true}, {Name: "site", Type: arrow.Null, Nullable: true}}, nil)
	var stream, file bytes.Buffer
	w := ipc.NewWriter(&stream, ipc.WithSchema(schema))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	p, err := pqarrow.NewFileWriter(schema, &file, parquet.NewWriterProperties(), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	learnt := Options{Mixed: true, Fields: []Field{{Name: "a"}, {Name: "site", Kind: Category, Values: []string{"p"}}}}
	for name, data := range map[string][]byte{"t.arrows": stream.Bytes(), "t.parquet": file.Bytes()} {
		_, err := Read(t.Context(), bytes.NewReader(data), name, learnt)
		wantError(t, err, name+": has no rows: give data with at least one")
	}
}
