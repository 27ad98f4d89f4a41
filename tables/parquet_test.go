package tables

import (
	"bytes"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"mars.dev/mars/arrowio"
)

// parquetOf writes a row group of columns whose values are all different.
func parquetOf(t *testing.T, columns, rows int, dictionary bool) []byte {
	t.Helper()
	var fields []arrow.Field
	var values []arrow.Array
	for i := range columns {
		b := array.NewFloat32Builder(memory.DefaultAllocator)
		for k := range rows {
			b.Append(float32(i*rows + k))
		}
		fields, values = append(fields, arrow.Field{Name: "x" + string(rune('a'+i)), Type: arrow.PrimitiveTypes.Float32}), append(values, b.NewArray())
	}
	schema := arrow.NewSchema(fields, nil)
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(schema, &out, parquet.NewWriterProperties(parquet.WithDictionaryDefault(dictionary), parquet.WithDataPageSize(1<<30)), pqarrow.DefaultWriterProps())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(array.NewRecord(schema, values, int64(rows))); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// The library holds a page and a dictionary of every column at a time.
func TestParquetPagesAreOfTheBudget(t *testing.T) {
	const table = 4 * 20 * 100_000 // bytes; a page of all columns is as large
	for name, dictionary := range map[string]bool{"pages": false, "dictionaries": true} {
		data := parquetOf(t, 20, 100_000, dictionary)
		read := func(beside int64) error {
			memory := arrowio.NewBudget(int64(len(data)) + beside)
			_, err := Read(t.Context(), bytes.NewReader(data), "x.parquet", Options{Memory: memory})
			return err
		}
		if err := read(3 * table); err == nil || !strings.Contains(err.Error(), "--memory-limit") {
			t.Errorf("%s: error %v", name, err)
		}
		if err := read(8 * table); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The library would make room for as many values as a dictionary claims.
func TestParquetDictionaryClaimsTooMuch(t *testing.T) {
	const rows = 10_000 // 3 bytes, as twice the number in base 128
	data := parquetOf(t, 1, rows, true)
	head := data[:40]
	at := bytes.Index(head, []byte{2*rows&0x7f | 0x80, 2*rows>>7&0x7f | 0x80, 2 * rows >> 14})
	if at < 0 {
		t.Fatalf("no number of values in %x", head)
	}
	copy(data[at:], []byte{0xfe, 0xff, 0x7f})
	_, err := Read(t.Context(), bytes.NewReader(data), "x.parquet", Options{})
	if err == nil || !strings.Contains(err.Error(), `row group 1, column "xa": a dictionary of 40000 bytes claims 1048575 values`) {
		t.Errorf("error %v", err)
	}
}
