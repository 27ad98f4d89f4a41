package arrowio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	flatbuffers "github.com/google/flatbuffers/go"
)

// Every type is read as it was written.
func TestTypesRoundTrip(t *testing.T) {
	types := []arrow.DataType{
		arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64,
		arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Time64us, arrow.FixedWidthTypes.Time64ns,
		arrow.FixedWidthTypes.MonthInterval, arrow.FixedWidthTypes.DayTimeInterval, arrow.FixedWidthTypes.MonthDayNanoInterval,
		&arrow.Decimal128Type{Precision: 1, Scale: -76}, &arrow.Decimal256Type{Precision: 76, Scale: 76},
		&arrow.FixedSizeBinaryType{}, arrow.LargeListViewOf(arrow.PrimitiveTypes.Int8),
		unionOf(t, 128),
	}
	for _, unit := range timeUnits {
		types = append(types, &arrow.DurationType{Unit: unit}, &arrow.TimestampType{Unit: unit, TimeZone: "UTC"}, &arrow.TimestampType{Unit: unit})
	}
	for _, dt := range types {
		want := arrow.NewSchema([]arrow.Field{{Name: "x", Type: dt, Nullable: true}}, nil)
		meta, err := schemaMessage(want)
		if err != nil {
			t.Fatal(err)
		}
		var msg message
		if err := msg.parse(meta); err != nil {
			t.Fatal(err)
		}
		if got, _, err := decodeSchema(msg.header); err != nil || !got.Equal(want) {
			t.Errorf("%s: got %v, %v", dt, got, err)
		}
	}
}

// numbersOf16 and numbersOf32 are a table that holds these numbers.
func numbersOf16(numbers ...int16) table {
	b := flatbuffers.NewBuilder(64)
	b.StartObject(len(numbers))
	for i, n := range numbers {
		b.PrependInt16(n)
		b.Slot(i)
	}
	b.Finish(b.EndObject())
	return (&flatbuffer{data: b.FinishedBytes()}).root()
}

func numbersOf32(numbers ...int32) table {
	b := flatbuffers.NewBuilder(64)
	b.StartObject(len(numbers))
	for i, n := range numbers {
		b.PrependInt32(n)
		b.Slot(i)
	}
	b.Finish(b.EndObject())
	return (&flatbuffer{data: b.FinishedBytes()}).root()
}

// Types with numbers that no type has are refused.
func TestTypesThatAreNone(t *testing.T) {
	const damaged = "is damaged: its metadata is no valid flatbuffer"
	children := func(n int) []arrow.Field {
		out := make([]arrow.Field, n)
		for i := range out {
			out[i] = arrow.Field{Name: fmt.Sprint(i), Type: arrow.PrimitiveTypes.Int8}
		}
		return out
	}
	for _, c := range []struct {
		name     string
		kind     int
		t        table
		children int
		want     string
	}{
		{"half", typeFloatingPoint, numbersOf16(0), 0, ""},
		{"a float of no known kind", typeFloatingPoint, numbersOf16(3), 0, "has an unknown floating point type (number 3)"},
		{"a float below the known", typeFloatingPoint, numbersOf16(-1), 0, "has an unknown floating point type (number -1)"},
		{"timestamp", typeTimestamp, numbersOf16(3), 0, ""},
		{"a timestamp of no unit", typeTimestamp, numbersOf16(4), 0, "has an unknown time unit (number 4)"},
		{"a duration of no unit", typeDuration, numbersOf16(4), 0, "has an unknown time unit (number 4)"},
		{"decimal", typeDecimal, numbersOf32(1, 76), 0, ""},
		{"a decimal of no digits", typeDecimal, numbersOf32(0, 0), 0, damaged},
		{"a decimal of too many digits", typeDecimal, numbersOf32(77, 0), 0, damaged},
		{"a decimal of too low a scale", typeDecimal, numbersOf32(1, -77), 0, damaged},
		{"a decimal of too high a scale", typeDecimal, numbersOf32(1, 77), 0, damaged},
		{"bytes", typeFixedSizeBinary, numbersOf32(0), 0, ""},
		{"less than no bytes", typeFixedSizeBinary, numbersOf32(-1), 0, damaged},
		{"a list", typeFixedSizeList, numbersOf32(1), 1, ""},
		{"a list of nothing", typeFixedSizeList, numbersOf32(0), 1, "is a list of fixed size 0, which is not supported"},
		{"a list of less than nothing", typeFixedSizeList, numbersOf32(-1), 1, damaged},
		{"a union without codes", typeUnion, numbersOf16(1), 128, ""},
		{"a union of too many", typeUnion, numbersOf16(1), 129, damaged},
		{"a union of no mode", typeUnion, numbersOf16(2), 1, "has an unknown union mode (number 2)"},
	} {
		dt, err := typeOf(c.kind, c.t, children(c.children))
		if (err != nil || c.want != "") && fmt.Sprint(err) != c.want {
			t.Errorf("%s: %v, %v, want %s", c.name, dt, err, c.want)
		}
	}
}

// The codes of a union are 0 to 127.
func TestUnionCodes(t *testing.T) {
	dt := arrow.SparseUnionOf([]arrow.Field{
		{Name: "a", Type: arrow.PrimitiveTypes.Int8, Nullable: true}, {Name: "b", Type: arrow.PrimitiveTypes.Int8, Nullable: true},
	}, []arrow.UnionTypeCode{0, 127})
	rec := oneColumn(t, dt, `[[0, 1], [127, 2]]`)
	roundTrip(t, "code 127", rec)
	data := write(t, StreamKind, Compression{}, rec)
	at := bytes.Index(data, le32(2, 0, 127)) // the codes in the schema
	if at < 0 {
		t.Fatal("the schema has no codes")
	}
	binary.LittleEndian.PutUint32(data[at+8:], 128)
	if _, err := readAll(data, ReadOptions{}); !errors.Is(err, errDamaged) {
		t.Errorf("code 128: %v", err)
	}
}

// Dictionaries that share an id are one, so their types must be.
func TestSharedDictionaries(t *testing.T) {
	dictionary := func(values arrow.DataType) arrow.DataType {
		return &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: values}
	}
	field := func(dt arrow.DataType) arrow.Field { return arrow.Field{Name: "b", Type: dt} }
	text, number := dictionary(arrow.BinaryTypes.String), dictionary(arrow.PrimitiveTypes.Int64)
	for _, c := range []struct {
		dt   arrow.DataType
		ids  []int64
		want string
	}{
		{text, []int64{0, 0}, ""},
		{number, []int64{0, 1}, ""},
		{number, []int64{0, 0}, "b"},
		{arrow.StructOf(field(number)), []int64{0, 0}, "b.b"},
		{own(number), []int64{0, 0}, "b"},
		{dictionary(arrow.StructOf(field(number))), []int64{0, 1, 0}, "b.b"},
	} {
		schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: text}, field(c.dt)}, nil)
		_, err := layoutOf(schema, c.ids)
		var about *fault
		if errors.As(err, &about) != (c.want != "") || about != nil && (about.column != c.want || about.err != errDamaged) {
			t.Errorf("%s, %v: %v, want column %s", c.dt, c.ids, err, c.want)
		}
	}
	rec := array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "a", Type: text}, field(number)}, nil),
		[]arrow.Array{oneColumn(t, text, `["x"]`).Column(0), oneColumn(t, number, `[1]`).Column(0)}, 1)
	data := write(t, StreamKind, Compression{}, rec)
	schema := data[:beginOf(t, data, 1)]
	at := bytes.Index(schema, binary.LittleEndian.AppendUint64(nil, 1)) // the id of the second
	if at < 0 {
		t.Fatal("the schema has no id 1")
	}
	schema[at] = 0
	if _, err := readAll(data, ReadOptions{}); err == nil || !strings.Contains(err.Error(), `column "b": `+errDamaged.Error()) {
		t.Errorf("a stream: %v", err)
	}
}

// A batch that lacks a child is refused by the name of the child.
func TestBatchWithoutChild(t *testing.T) {
	lists := write(t, StreamKind, Compression{}, oneColumn(t, arrow.ListOf(arrow.PrimitiveTypes.Int32), `[[1], [2], [3]]`))
	numbers := write(t, StreamKind, Compression{}, oneColumn(t, arrow.PrimitiveTypes.Int32, `[1, 2, 3]`))
	_, err := readAll(append(lists[:beginOf(t, lists, 1)], numbers[beginOf(t, numbers, 1):]...), ReadOptions{})
	if want := `column "x.item": is not in the batch: it has fewer arrays than its schema`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// ownType is a type of a program, which is stored as another.
type ownType struct{ arrow.ExtensionBase }

func own(storage arrow.DataType) arrow.ExtensionType {
	return &ownType{arrow.ExtensionBase{Storage: storage}}
}

type ownArray struct{ array.ExtensionArrayBase }

func (*ownType) ArrayType() reflect.Type { return reflect.TypeFor[ownArray]() }
func (*ownType) ExtensionName() string   { return "own" }
func (*ownType) Serialize() string       { return "" }
func (*ownType) Deserialize(storage arrow.DataType, _ string) (arrow.ExtensionType, error) {
	return own(storage), nil
}
func (t *ownType) ExtensionEquals(other arrow.ExtensionType) bool {
	return arrow.TypeEqual(t.Storage, other.StorageType())
}

// Columns of a program's own type are written as what they are stored as.
func TestOwnTypes(t *testing.T) {
	for i, z := range zoo {
		if z.dt.ID() == arrow.DICTIONARY {
			continue // arrow/go makes no such array
		}
		storage := zooColumn(t, i)
		column := array.NewExtensionArrayWithStorage(own(z.dt), storage.Column(0))
		rec := columnRecord(column)
		for _, rec := range []arrow.Record{rec, rec.NewSlice(1, 4)} {
			var buf bytes.Buffer
			w := NewWriter(&buf, "out", WriteOptions{})
			if err := errors.Join(w.Begin(rec.Schema()), w.Write(rec), w.Close()); err != nil {
				t.Errorf("%s: %v", z.dt, err)
				continue
			}
			got, err := readAll(buf.Bytes(), ReadOptions{})
			if want := rec.Column(0).(array.ExtensionArray).Storage(); err != nil || !array.Equal(got[0].Column(0), want) {
				t.Errorf("%s: got %v, %v, want %v", z.dt, got, err, want)
			}
		}
	}
}
