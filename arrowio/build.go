package arrowio

import (
	"context"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

var allocator memory.Allocator = memory.NewGoAllocator()

// VectorType is the type that stages write vectors of width elements in.
func VectorType(width int) arrow.DataType {
	return arrow.FixedSizeListOf(int32(width), arrow.PrimitiveTypes.Float32)
}

// NewVectorArray makes a fixed_size_list<float32>[v.Width] of v.Rows rows. The
// array views v.Data, which must not change while the array is in use.
func NewVectorArray(v Vectors) arrow.Array {
	if len(v.Data) != v.Rows*v.Width {
		panic("arrowio: NewVectorArray: data is not rows × width")
	}
	elements := NewFloatArray(v.Data)
	defer elements.Release()
	data := array.NewData(VectorType(v.Width), v.Rows, []*memory.Buffer{nil}, []arrow.ArrayData{elements.Data()}, 0, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

// NewIntArray makes an int32 array; valid nil means that no value is null. The
// array views values.
func NewIntArray(values []int32, valid []bool) arrow.Array {
	if valid != nil && len(valid) != len(values) {
		panic("arrowio: NewIntArray: values and valid differ in length")
	}
	bitmap, nulls := bitmapOf(valid)
	return numbers(values, bitmap, nulls)
}

// NewFloatArray makes a float32 array that views values.
func NewFloatArray(values []float32) arrow.Array { return numbers(values, nil, 0) }

// NewDoubleArray makes a float64 array that views values.
func NewDoubleArray(values []float64) arrow.Array { return numbers(values, nil, 0) }

// NewInt64Array makes an int64 array that views values.
func NewInt64Array(values []int64) arrow.Array { return numbers(values, nil, 0) }

// numbers makes an array that views values.
func numbers[T arrow.NumericType](values []T, bitmap *memory.Buffer, nulls int) arrow.Array {
	view := memory.NewBufferBytes(arrow.GetBytes(values))
	data := array.NewData(arrow.GetDataType[T](), len(values), []*memory.Buffer{bitmap, view}, nil, nulls, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

// NewDoublesOrNull makes a float64 array in which nil is null.
func NewDoublesOrNull(values []*float64) arrow.Array {
	b := array.NewFloat64Builder(allocator)
	defer b.Release()
	for _, v := range values {
		if v != nil {
			b.Append(*v)
		} else {
			b.AppendNull()
		}
	}
	return b.NewArray()
}

// NewBoolArray makes an array of values without nulls.
func NewBoolArray(values []bool) arrow.Array {
	b := array.NewBooleanBuilder(allocator)
	defer b.Release()
	b.AppendValues(values, nil)
	return b.NewArray()
}

// NewStringArray makes a utf8 array without nulls.
func NewStringArray(values []string) arrow.Array {
	b := array.NewStringBuilder(allocator)
	defer b.Release()
	b.AppendValues(values, nil)
	return b.NewArray()
}

// NewStringsWithout makes a utf8 array that is null in the given rows.
func NewStringsWithout(values []string, missing map[int]bool) arrow.Array {
	b := array.NewStringBuilder(allocator)
	defer b.Release()
	b.AppendValues(values, validWithout(len(values), missing))
	return b.NewArray()
}

// NewStringsOrNull makes a utf8 array in which an empty text is null.
func NewStringsOrNull(values []string) arrow.Array {
	empty := map[int]bool{}
	for i, v := range values {
		empty[i] = v == ""
	}
	return NewStringsWithout(values, empty)
}

// NewFloatsWithout makes a float32 array that is null in the given rows.
func NewFloatsWithout(values []float32, missing map[int]bool) arrow.Array {
	b := array.NewFloat32Builder(allocator)
	defer b.Release()
	b.AppendValues(values, validWithout(len(values), missing))
	return b.NewArray()
}

// validWithout says that no other row is null; nil if none is.
func validWithout(n int, missing map[int]bool) []bool {
	if missing == nil {
		return nil
	}
	valid := make([]bool, n)
	for i := range valid {
		valid[i] = !missing[i]
	}
	return valid
}

// NewDomainArray makes the utf8 array of the domain column.
func NewDomainArray(domains []Domain) arrow.Array {
	names := make([]string, len(domains))
	for i, d := range domains {
		names[i] = d.String()
	}
	return NewStringArray(names)
}

// bitmapOf packs valid as Arrow does, least significant bit first.
func bitmapOf(valid []bool) (*memory.Buffer, int) {
	nulls := 0
	bits := make([]byte, (len(valid)+7)/8)
	for i, ok := range valid {
		if ok {
			bitutil.SetBit(bits, i)
		} else {
			nulls++
		}
	}
	if nulls == 0 {
		return nil, 0
	}
	return memory.NewBufferBytes(bits), nulls
}

// A Table is a record batch that is made a column at a time.
type Table struct {
	fields  []arrow.Field
	columns []arrow.Array
}

// Add adds a column without nulls.
func (t *Table) Add(name string, column arrow.Array) {
	t.AddField(arrow.Field{Name: name, Type: column.DataType()}, column)
}

// AddNullable adds a column that may have nulls.
func (t *Table) AddNullable(name string, column arrow.Array) {
	t.AddField(arrow.Field{Name: name, Type: column.DataType(), Nullable: true}, column)
}

// AddField adds a column as another batch has it.
func (t *Table) AddField(f arrow.Field, column arrow.Array) {
	t.fields, t.columns = append(t.fields, f), append(t.columns, column)
}

// Record is the batch, with what meta says of it.
func (t *Table) Record(meta Meta) arrow.Record {
	return array.NewRecord(meta.Apply(arrow.NewSchema(t.fields, nil)), t.columns, int64(t.columns[0].Len()))
}

// Save writes a batch to a file, whole or not at all; a path of "" or - is standard output.
func Save(path string, rec arrow.Record) error {
	out, err := Create(path, WriteOptions{})
	if err != nil {
		return err
	}
	return Copy(context.Background(), out, NewBatches(path, rec.Schema(), rec))
}

// CopyRows copies rows of a column, whose batch does not stay.
func CopyRows(column arrow.Array, from, to int64) (arrow.Array, error) {
	part := array.NewSlice(column, from, to)
	defer part.Release()
	return array.Concatenate([]arrow.Array{part}, allocator)
}
