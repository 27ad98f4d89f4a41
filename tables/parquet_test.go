package tables

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
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

// A page and a dictionary of every column are held at a time.
func TestParquetPagesAreOfTheBudget(t *testing.T) {
	const table = 4 * 20 * 100_000 // bytes; a page of all columns is as large
	for name, dictionary := range map[string]bool{"pages": false, "dictionaries": true} {
		data := parquetOf(t, 20, 100_000, dictionary)
		read := func(beside int64) error {
			memory := arrowio.NewBudget(int64(len(data)) + beside)
			_, err := Read(t.Context(), bytes.NewReader(data), "x.parquet", Options{Memory: memory})
			return err
		}
		if err := read(table * 3 / 2); err == nil || !strings.Contains(err.Error(), "--memory-limit") {
			t.Errorf("%s: error %v", name, err)
		}
		if err := read(5 * table); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// There is no room for as many values as a dictionary claims.
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
	if err == nil || !strings.Contains(err.Error(), `row group 1, column "xa": is not valid Parquet`) || !strings.Contains(err.Error(), `a dictionary of 40000 bytes claims 1048575 values`) {
		t.Errorf("error %v", err)
	}
}

// numbersOf are n values of a type, of which some are null: none, each for itself, in runs, or
// all.
func numbersOf(t *testing.T, kind arrow.DataType, gaps string, n int, rng *rand.Rand) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, kind)
	defer b.Release()
	absent := false
	for range n {
		switch gaps {
		case "some":
			absent = rng.IntN(4) == 0
		case "runs":
			absent = absent != (rng.IntN(300) == 0)
		case "all":
			absent = true
		}
		if absent {
			b.AppendNull()
		} else if err := b.AppendValueFromString(strconv.Itoa(rng.IntN(3000) - 1500)); err != nil {
			t.Fatal(err)
		}
	}
	return b.NewArray()
}

// Columns of numbers are what the library makes of them, however they are written.
func TestNumbersAreTheLibrarys(t *testing.T) {
	const rows = 4500
	rng := rand.New(rand.NewPCG(1, 2))
	var fields []arrow.Field
	var columns []arrow.Array
	for _, kind := range []arrow.DataType{arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64} {
		for _, gaps := range []string{"required", "none", "some", "runs", "all"} {
			fields = append(fields, arrow.Field{Name: kind.Name() + gaps, Type: kind, Nullable: gaps != "required"})
			columns = append(columns, numbersOf(t, kind, gaps, rows, rng))
		}
	}
	rec := array.NewRecord(arrow.NewSchema(fields, nil), columns, rows)
	const limited = 3000 // bytes of a dictionary, after which values are written as they are
	for name, options := range map[string][]parquet.WriterProperty{
		"plain":         {parquet.WithDictionaryDefault(false)},
		"version 2":     {parquet.WithDataPageVersion(parquet.DataPageV2), parquet.WithCompression(compress.Codecs.Snappy)},
		"plain 2":       {parquet.WithDictionaryDefault(false), parquet.WithDataPageVersion(parquet.DataPageV2)},
		"dictionary":    {parquet.WithCompression(compress.Codecs.Zstd)},
		"both":          {parquet.WithDictionaryPageSizeLimit(limited), parquet.WithCompression(compress.Codecs.Snappy)},
		"brotli":        {parquet.WithCompression(compress.Codecs.Brotli), parquet.WithDictionaryDefault(false)},
		"gzip":          {parquet.WithCompression(compress.Codecs.Gzip)},
		"groups":        {parquet.WithMaxRowGroupLength(700), parquet.WithDataPageSize(300)},
		"small pages":   {parquet.WithDataPageSize(100), parquet.WithBatchSize(7)},
		"delta":         {parquet.WithDictionaryDefault(false), parquet.WithEncodingFor("int32some", parquet.Encodings.DeltaBinaryPacked), parquet.WithEncodingFor("int64none", parquet.Encodings.DeltaBinaryPacked)},
		"delta, groups": {parquet.WithDictionaryDefault(false), parquet.WithEncodingFor("int32runs", parquet.Encodings.DeltaBinaryPacked), parquet.WithMaxRowGroupLength(2000)},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			w, err := pqarrow.NewFileWriter(rec.Schema(), &out, parquet.NewWriterProperties(options...), pqarrow.DefaultWriterProps())
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(w.Write(rec), w.Close()); err != nil {
				t.Fatal(err)
			}
			checkNumbers(t, out.Bytes(), rec, false)
			if !strings.HasPrefix(name, "delta") { // which the library reads at once or not at all
				checkNumbers(t, out.Bytes(), rec, true)
			}
		})
	}
}

// An unusual column is found to be so after its first batch.
type unusual struct {
	numberColumn
	calls int
}

func (u *unusual) next(n int) (arrow.Array, error) {
	if u.calls++; u.calls > 1 {
		return nil, errUnusual
	}
	return u.numberColumn.next(n)
}

// checkNumbers reads a file and compares it with what was written. The library may have to
// go on with columns.
func checkNumbers(t *testing.T, data []byte, rec arrow.Record, odd bool) {
	mem := arrowio.NewBudget(1 << 24)
	in, err := newInput(t.Context(), bytes.NewReader(data), "x.parquet", Options{Memory: mem})
	if err != nil {
		t.Fatal(err)
	}
	err = withParquet(t.Context(), in, func(f *parquetFile) error {
		before := mem.Used()
		_, top := flatSchema(f.schema)
		rows := newParquetRows(f, top, func(int) bool { return true })
		rows.begin()
		if odd {
			rows.batch = 1000
			for k, c := range rows.columns {
				rows.columns[k].numbers = &unusual{numberColumn: c.numbers}
			}
		}
		for at := int64(0); at < rec.NumRows(); {
			got, err := rows.next(t.Context())
			if err != nil {
				return err
			}
			want := rec.NewSlice(at, at+got.NumRows())
			for k, column := range got.Columns() {
				if rows.columns[k].numbers == nil {
					t.Errorf("column %s is read by the library", rows.names[k])
				}
				if !array.Equal(column, want.Column(k)) || column.NullN() != want.Column(k).NullN() {
					t.Errorf("column %s differs in the rows from %d", rows.names[k], at)
				}
			}
			at += got.NumRows()
		}
		if _, err := rows.next(t.Context()); !errors.Is(err, io.EOF) {
			t.Errorf("after all rows: %v", err)
		}
		rows.close()
		if mem.Used() != before {
			t.Errorf("%d bytes are not given back", mem.Used()-before)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// The rows stay in the budget when the file has been read, and nothing else does.
func TestParquetRowsStayInTheBudget(t *testing.T) {
	const columns, rows = 4, 10_000
	mem := arrowio.NewBudget(1 << 24)
	table, err := Read(t.Context(), bytes.NewReader(parquetOf(t, columns, rows, true)), "x.parquet", Options{Memory: mem})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := mem.Used(), int64(4*cap(table.Features.Data)); got < want || got > want+want/16 {
		t.Errorf("%d bytes are held, want %d", got, want)
	}
}

// Numbers of every width come out of packed groups, in pieces of any length, as they went in.
func TestRunsOfEveryWidth(t *testing.T) {
	const n = 200
	rng := rand.New(rand.NewPCG(1, 2))
	for width := range 33 {
		want, packed := make([]uint32, n), make([]byte, n*width/8, n*width/8+pageSpare)
		for i := range want {
			want[i] = uint32(rng.Uint64() & (1<<width - 1))
			for k := range width {
				packed[(i*width+k)/8] |= byte(want[i]>>k&1) << ((i*width + k) % 8)
			}
		}
		data := binary.AppendUvarint(nil, n/8<<1|1)
		data = append(data, packed...)
		r := runs{data: append(data, make([]byte, pageSpare)...)[:len(data)], width: width}
		got := make([]uint32, n)
		for at := 0; at < n; {
			k := min(1+rng.IntN(9), n-at)
			if err := r.read(got[at : at+k]); err != nil {
				t.Fatal(err)
			}
			at += k
		}
		if !slices.Equal(got, want) {
			t.Errorf("numbers of %d bits: %v, want %v", width, got, want)
		}
	}
}
