package tables

import (
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
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
