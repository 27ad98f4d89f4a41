package arrowio

import (
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
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
	elements := array.NewData(arrow.PrimitiveTypes.Float32, len(v.Data), []*memory.Buffer{nil, viewBuffer(v.Data)}, nil, 0, 0)
	defer elements.Release()
	data := array.NewData(VectorType(v.Width), v.Rows, []*memory.Buffer{nil}, []arrow.ArrayData{elements}, 0, 0)
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
	data := array.NewData(arrow.PrimitiveTypes.Int32, len(values), []*memory.Buffer{bitmap, viewBuffer(values)}, nil, nulls, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

// NewFloatArray makes a float32 array that views values.
func NewFloatArray(values []float32) arrow.Array {
	data := array.NewData(arrow.PrimitiveTypes.Float32, len(values), []*memory.Buffer{nil, viewBuffer(values)}, nil, 0, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

// NewInt64Array makes an int64 array that views values.
func NewInt64Array(values []int64) arrow.Array {
	data := array.NewData(arrow.PrimitiveTypes.Int64, len(values), []*memory.Buffer{nil, viewBuffer(values)}, nil, 0, 0)
	defer data.Release()
	return array.MakeFromData(data)
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

// viewBuffer is a buffer over the memory of values.
func viewBuffer[T int32 | int64 | float32](values []T) *memory.Buffer {
	if len(values) == 0 {
		return memory.NewBufferBytes(nil)
	}
	size := len(values) * int(unsafe.Sizeof(values[0]))
	return memory.NewBufferBytes(unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), size))
}

// bitmapOf packs valid as Arrow does, least significant bit first.
func bitmapOf(valid []bool) (*memory.Buffer, int) {
	nulls := 0
	bits := make([]byte, (len(valid)+7)/8)
	for i, ok := range valid {
		if ok {
			bits[i/8] |= 1 << (i % 8)
		} else {
			nulls++
		}
	}
	if nulls == 0 {
		return nil, 0
	}
	return memory.NewBufferBytes(bits), nulls
}
