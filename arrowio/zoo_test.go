package arrowio

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// zoo is one column of every layout, with nulls, as JSON rows.
var zoo = []struct {
	dt   arrow.DataType
	rows string
}{
	{arrow.Null, `[null, null, null, null, null]`},
	{arrow.FixedWidthTypes.Boolean, `[true, null, false, true, true]`},
	{arrow.PrimitiveTypes.Int8, `[1, null, -3, 4, 5]`},
	{arrow.PrimitiveTypes.Uint64, `[1, 2, 3, 4, 5]`},
	{arrow.FixedWidthTypes.Float16, `[1, 2.5, null, 4, 5]`},
	{arrow.PrimitiveTypes.Float64, `[1, null, 3, 4, 5.25]`},
	{&arrow.Decimal128Type{Precision: 10, Scale: 2}, `["1.25", null, "3", "4", "5"]`},
	{&arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, `[1, null, 3, 4, 5]`},
	{arrow.FixedWidthTypes.Date32, `[1, null, 3, 4, 5]`},
	{arrow.FixedWidthTypes.Time64us, `["10:20:30.5", null, "00:00:01", "00:00:02", "00:00:03"]`},
	{arrow.FixedWidthTypes.MonthDayNanoInterval, `[{"months":1,"days":2,"nanoseconds":3}, null, {"months":1,"days":2,"nanoseconds":4}, null, null]`},
	{&arrow.FixedSizeBinaryType{ByteWidth: 3}, `["QUJD", null, "QUJE", "QUJF", "QUJG"]`},
	{arrow.BinaryTypes.Binary, `["QUJD", null, "", "QUJF", "QUJG"]`},
	{arrow.BinaryTypes.String, `["a", null, "", "dée", "longer than twelve bytes"]`},
	{arrow.BinaryTypes.LargeString, `["a", "b", "", "d", "longer than twelve bytes"]`},
	{arrow.BinaryTypes.StringView, `["a", null, "", "d", "longer than twelve bytes"]`},
	{arrow.ListOf(arrow.PrimitiveTypes.Float32), `[[1, 2], null, [], [3, null], [4]]`},
	{arrow.LargeListOf(arrow.BinaryTypes.String), `[["x", "y"], [], ["z"], null, ["w"]]`},
	{arrow.ListViewOf(arrow.PrimitiveTypes.Int16), `[[1, 2], null, [], [3], [4]]`},
	{arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32), `[[1, 2], [3, 4], [5, 6], [7, 8], [9, 10]]`},
	{arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, arrow.Field{Name: "y", Type: arrow.BinaryTypes.String, Nullable: true}),
		`[{"x":1,"y":"a"}, null, {"x":null,"y":"c"}, {"x":4,"y":null}, {"x":5,"y":"e"}]`},
	{arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32), `[[{"key":"a","value":1}], null, [], [{"key":"b","value":null}], [{"key":"c","value":3}]]`},
	{arrow.SparseUnionOf([]arrow.Field{{Name: "i", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, {Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}}, []int8{3, 7}),
		`[[3, 1], [7, "x"], [3, 2], [7, "y"], [3, 3]]`},
	{arrow.DenseUnionOf([]arrow.Field{{Name: "i", Type: arrow.PrimitiveTypes.Int32, Nullable: true}, {Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}}, []int8{3, 7}),
		`[[3, 1], [7, "x"], [3, 2], [7, "y"], [3, 3]]`},
	{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, `["a", "b", null, "a", "c"]`},
	{&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: arrow.PrimitiveTypes.Int64}, `[7, 8, 9, 7, null]`},
	{arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String), `["a", "a", null, "b", "b"]`},
	{arrow.ListOf(arrow.StructOf(arrow.Field{Name: "d", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.BinaryTypes.String}, Nullable: true})),
		`[[{"d":"a"}], null, [{"d":"b"},{"d":"a"}], [], [{"d":null}]]`},
}

// zooRecord is all of the zoo as one batch of 5 rows.
func zooRecord(t testing.TB) arrow.Record {
	t.Helper()
	var fields []arrow.Field
	var cols []arrow.Array
	for i, z := range zoo {
		col, _, err := array.FromJSON(allocator, z.dt, strings.NewReader(z.rows))
		if err != nil {
			t.Fatalf("%s: %v", z.dt, err)
		}
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("c%d", i), Type: z.dt, Nullable: true})
		cols = append(cols, col)
	}
	meta := arrow.NewMetadata([]string{"user"}, []string{"kept"})
	return array.NewRecord(arrow.NewSchema(fields, &meta), cols, 5)
}

// zooColumn is one column of the zoo.
func zooColumn(t testing.TB, i int) arrow.Record {
	all := zooRecord(t)
	defer all.Release()
	return array.NewRecord(arrow.NewSchema([]arrow.Field{all.Schema().Field(i)}, nil), []arrow.Array{all.Column(i)}, 5)
}

// write writes records as kind with compression, a stream without its trailer, as other programs do.
func write(t testing.TB, kind Kind, c Compression, records ...arrow.Record) []byte {
	t.Helper()
	data := writeWhole(t, kind, c, records...)
	if kind == StreamKind {
		data = data[:len(data)-trailerSize]
	}
	return data
}

// writeWhole writes records as kind with compression, as this package does.
func writeWhole(t testing.TB, kind Kind, c Compression, records ...arrow.Record) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := NewWriter(&buf, "out", WriteOptions{Compression: c})
	if kind == FileKind {
		w = NewFileWriter(&buf, "out", WriteOptions{Compression: c})
	}
	if err := w.Begin(records[0].Schema()); err != nil {
		t.Fatal(err)
	}
	for _, rec := range records {
		if err := w.Write(rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// readAll reads every batch of data; the caller releases them.
func readAll(data []byte, o ReadOptions) ([]arrow.Record, error) {
	r, err := NewReader(bytes.NewReader(data), "in", o)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var out []arrow.Record
	for {
		rec, err := r.Next()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		rec.Retain()
		out = append(out, rec)
	}
}

var (
	codecs = []Compression{{}, {Codec: LZ4}, {Codec: Zstd}, {Codec: LZ4, Level: 9}, {Codec: Zstd, Level: 19}}
	kinds  = []Kind{StreamKind, FileKind}
)

func TestZooRoundTrip(t *testing.T) {
	for i, z := range zoo {
		rec := zooColumn(t, i)
		slice := rec.NewSlice(1, 4)
		empty := rec.NewSlice(2, 2)
		for _, kind := range kinds {
			for _, c := range codecs {
				data := write(t, kind, c, rec, slice, empty)
				got, err := readAll(data, ReadOptions{})
				if err != nil {
					t.Errorf("%s, %s, %s: %v", z.dt, kind, c, err)
					continue
				}
				for k, want := range []arrow.Record{rec, slice, empty} {
					if !array.RecordEqual(got[k], want) {
						t.Errorf("%s, %s, %s: batch %d is\n%v, want\n%v", z.dt, kind, c, k, got[k], want)
					}
				}
			}
		}
	}
}
