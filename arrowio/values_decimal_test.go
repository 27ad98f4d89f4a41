package arrowio

import (
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/decimal128"
	"github.com/apache/arrow/go/v15/arrow/decimal256"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Decimals are numbers at their scale; true and false are 1 and 0.
func TestFloatsOfDecimalsAndBooleans(t *testing.T) {
	small := array.NewDecimal128Builder(memory.DefaultAllocator, &arrow.Decimal128Type{Precision: 10, Scale: 4})
	small.AppendValues([]decimal128.Num{decimal128.FromI64(12345), decimal128.FromI64(-5000), decimal128.FromI64(0)}, nil)
	large := array.NewDecimal256Builder(memory.DefaultAllocator, &arrow.Decimal256Type{Precision: 50, Scale: 2})
	large.AppendValues([]decimal256.Num{decimal256.FromI64(150), decimal256.FromI64(-25), decimal256.FromI64(1)}, nil)
	truth := array.NewBooleanBuilder(memory.DefaultAllocator)
	truth.AppendValues([]bool{true, false, true}, nil)
	for _, test := range []struct {
		column arrow.Array
		want   []float32
	}{
		{small.NewArray(), []float32{1.2345, -.5, 0}},
		{large.NewArray(), []float32{1.5, -.25, .01}},
		{truth.NewArray(), []float32{1, 0, 1}},
		{array.NewSlice(truthOf(false, true, true), 1, 3), []float32{1, 1}},
	} {
		schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: test.column.DataType()}}, nil)
		rec := array.NewRecord(schema, []arrow.Array{test.column}, int64(test.column.Len()))
		got, err := FloatColumn(rec, "x")
		if err != nil || !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v (%v)", test.column.DataType(), got, test.want, err)
		}
	}
}

func truthOf(values ...bool) arrow.Array {
	b := array.NewBooleanBuilder(memory.DefaultAllocator)
	b.AppendValues(values, nil)
	return b.NewArray()
}
