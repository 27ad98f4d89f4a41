package tables

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Labels, identities and targets may be truth values, days and times, which have names as in text.
func TestNamesOfTypes(t *testing.T) {
	day := time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC)
	for _, tc := range []struct {
		kind  arrow.DataType
		value func(b array.Builder)
		want  string
	}{
		{arrow.FixedWidthTypes.Boolean, func(b array.Builder) { b.(*array.BooleanBuilder).Append(true) }, "true"},
		{arrow.FixedWidthTypes.Date32, func(b array.Builder) { b.(*array.Date32Builder).Append(arrow.Date32FromTime(day)) }, "2026-03-01"},
		{arrow.FixedWidthTypes.Timestamp_us, func(b array.Builder) { b.(*array.TimestampBuilder).Append(arrow.Timestamp(day.UnixMicro())) }, "2026-03-01 12:30:00Z"},
	} {
		b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "day", Type: tc.kind, Nullable: true}}, nil))
		tc.value(b.Field(0))
		b.Field(0).AppendNull()
		got, err := namesOf(b.NewRecord(), "day")
		if err != nil || !slices.Equal(got, []string{tc.want, ""}) {
			t.Errorf("%s: %q, %v", tc.kind, got, err)
		}
	}
}

// A column without a value has no type in what pandas and polars write: it fits a feature of any.
func TestColumnWithoutType(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Float64}, {Name: "q", Type: arrow.Null}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	b.Field(0).(*array.Float64Builder).AppendValues([]float64{1, 2}, nil)
	b.Field(1).(*array.NullBuilder).AppendNulls(2)
	rec := b.NewRecord()
	var file bytes.Buffer
	w := ipc.NewWriter(&file, ipc.WithSchema(schema))
	if err := errors.Join(w.Write(rec), w.Close()); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []Kind{Number, Category, Day} {
		o := Options{Mixed: true, NoLabels: true, Fields: []Field{{Name: "a"}, {Name: "q", Kind: kind, Values: []string{"u", "v"}}}}
		got, err := Read(t.Context(), bytes.NewReader(file.Bytes()), "none.arrows", o)
		if err != nil || got.Features.Rows != 2 || got.Features.Data[1] == got.Features.Data[1] {
			t.Errorf("kind %v: %v, %v", kind, got, err)
		}
	}
}

// Numbers that are no whole ones may stand where others have words.
func TestCategoryOfNumbers(t *testing.T) {
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema([]arrow.Field{{Name: "q", Type: arrow.PrimitiveTypes.Float64}}, nil))
	b.Field(0).(*array.Float64Builder).AppendValues([]float64{7, 1.5, 1e9}, nil)
	if got, err := domainsOf(b.NewRecord(), "q"); err != nil || !slices.Equal(got, []string{"7", "1.5", "1000000000"}) {
		t.Errorf("%q, %v", got, err)
	}
}
