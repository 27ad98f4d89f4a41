package arrowio

import (
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// maxElements is how many elements of a list a cell of a table shows.
const maxElements = 4

// cellWriter writes values as text.
type cellWriter struct {
	strings.Builder
	elements int // how many of a list are shown, 0 for all
}

// Cell is value i of col as text, as in CSV; ok is false if it is null.
func Cell(col arrow.Array, i int) (text string, ok bool) { return cell(col, i, 0) }

// Brief is Cell with no more than the first elements of a list.
func Brief(col arrow.Array, i int) (text string, ok bool) { return cell(col, i, maxElements) }

// cell is value i of col as text; ok is false if it is null.
func cell(col arrow.Array, i, elements int) (text string, ok bool) {
	if isNull(col, i) {
		return "", false
	}
	if text, ok := float(col, i); ok { // of which tables have most, written without a copy
		return text, true
	}
	w := cellWriter{elements: elements}
	w.value(col, i)
	return w.String(), true
}

// isNull also looks into types that have no nulls of their own, but hold values
// that may be null.
func isNull(col arrow.Array, i int) bool {
	switch c := col.(type) {
	case *array.Null:
		return true
	case *array.RunEndEncoded:
		return isNull(c.Values(), c.GetPhysicalIndex(i))
	case *array.Dictionary:
		return c.IsNull(i) || isNull(c.Dictionary(), c.GetValueIndex(i))
	case *array.SparseUnion:
		return isNull(c.Field(c.ChildID(i)), i)
	case *array.DenseUnion:
		return isNull(c.Field(c.ChildID(i)), int(c.ValueOffset(i)))
	}
	return col.IsNull(i)
}

func (w *cellWriter) value(col arrow.Array, i int) {
	if isNull(col, i) {
		w.WriteString("null")
		return
	}
	switch c := col.(type) {
	case array.ListLike:
		beg, end := c.ValueOffsets(i)
		w.list(c.ListValues(), int(beg), int(end))
	case *array.Struct:
		w.structure(c, i)
	case *array.Dictionary:
		w.value(c.Dictionary(), c.GetValueIndex(i))
	case *array.RunEndEncoded:
		w.value(c.Values(), c.GetPhysicalIndex(i))
	case *array.SparseUnion:
		w.value(c.Field(c.ChildID(i)), i)
	case *array.DenseUnion:
		w.value(c.Field(c.ChildID(i)), int(c.ValueOffset(i)))
	case array.ExtensionArray:
		w.value(c.Storage(), i)
	default:
		w.scalar(col, i)
	}
}

func (w *cellWriter) scalar(col arrow.Array, i int) {
	text, ok := float(col, i)
	if !ok {
		text = col.ValueStr(i)
	}
	w.WriteString(text)
}

// float is value i of a column of floats; ok is false of other columns.
func float(col arrow.Array, i int) (text string, ok bool) {
	switch c := col.(type) {
	case *array.Float32:
		return strconv.FormatFloat(float64(c.Value(i)), 'g', -1, 32), true
	case *array.Float64:
		return strconv.FormatFloat(c.Value(i), 'g', -1, 64), true
	case *array.Float16:
		return strconv.FormatFloat(float64(c.Value(i).Float32()), 'g', -1, 32), true
	}
	return "", false
}

func (w *cellWriter) list(values arrow.Array, beg, end int) {
	w.WriteByte('[')
	for k := beg; k < end; k++ {
		if k > beg {
			w.WriteString(", ")
		}
		if w.elements > 0 && k-beg == w.elements {
			w.WriteString("… " + strconv.Itoa(end-beg))
			break
		}
		w.value(values, k)
	}
	w.WriteByte(']')
}

func (w *cellWriter) structure(c *array.Struct, i int) {
	w.WriteByte('{')
	for k := range c.NumField() {
		if k > 0 {
			w.WriteString(", ")
		}
		w.WriteString(c.DataType().(*arrow.StructType).Field(k).Name + ": ")
		w.value(c.Field(k), i)
	}
	w.WriteByte('}')
}
