package arrowio

import (
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// VectorColumn reads a column of vectors. It takes fixed_size_list, list and
// large_list of float16, float32, float64 or integers, and plain float columns
// as vectors of width 1.
//
// The data is a view into the batch if the layout allows it (float32 elements, end
// to end) and else a copy. Treat it as read-only, and as valid only as long as the
// batch is. A null row, a row of another length, a null,
// NaN or infinite element is an error naming the row; rows without elements are one too. The width of a batch
// without rows is that of the type, 0 for lists.
func VectorColumn(rec arrow.Record, name string) (Vectors, error) {
	v, err := vectorColumn(rec, name)
	if err != nil {
		return Vectors{}, err
	}
	return v, v.checkFinite(name, false)
}

// VectorColumnWithGaps reads such a column, in which a row may be NaN as a whole: it has no
// value (Vectors.Missing).
func VectorColumnWithGaps(rec arrow.Record, name string) (Vectors, error) {
	v, err := vectorColumn(rec, name)
	if err != nil {
		return Vectors{}, err
	}
	return v, v.checkFinite(name, true)
}

// checkFinite reports the first element that is NaN or infinite, but where rows may be missing
// not those of such rows.
func (v Vectors) checkFinite(name string, missing bool) error {
	for from := 0; ; {
		i := firstNonFinite(v.Data[from:])
		if i < 0 {
			return nil
		}
		row := (from + i) / v.Width
		if !missing || !v.Missing(row) {
			return rowError(name, row, "element %d is %v: fill or drop the row", (from+i)%v.Width+1, v.Data[from+i])
		}
		from = (row + 1) * v.Width
	}
}

func vectorColumn(rec arrow.Record, name string) (Vectors, error) {
	col, err := column(rec, name)
	if err != nil {
		return Vectors{}, err
	}
	if i := firstNull(col); i >= 0 {
		return Vectors{}, rowError(name, i, "is null: fill or drop the row")
	}
	elements, width, err := elementsOf(col, name)
	if err != nil {
		return Vectors{}, err
	}
	defer elements.Release()
	if width == 0 && col.Len() > 0 {
		return Vectors{}, columnError(name, "", "rows have no numbers")
	}
	if i := firstNull(elements); i >= 0 {
		return Vectors{}, rowError(name, i/width, "element %d is null: fill or drop the row", i%width+1)
	}
	data, err := floatsOf(elements, name)
	if err != nil {
		return Vectors{}, typeError(name, col.DataType(), "lists of numbers, all of one length")
	}
	return Vectors{Data: data, Rows: col.Len(), Width: width}, nil
}

// elementsOf gives the elements of all rows, end to end, and the rows' width.
func elementsOf(col arrow.Array, name string) (arrow.Array, int, error) {
	switch c := col.(type) {
	case *array.FixedSizeList:
		width := int64(c.DataType().(*arrow.FixedSizeListType).Len())
		beg := int64(c.Data().Offset()) * width
		return array.NewSlice(c.ListValues(), beg, beg+int64(c.Len())*width), int(width), nil
	case array.ListLike:
		return listElements(c, name)
	case array.ExtensionArray:
		return elementsOf(c.Storage(), name)
	case *array.Float32, *array.Float64, *array.Float16:
		col.Retain()
		return col, 1, nil
	}
	return nil, 0, typeError(name, col.DataType(), "lists of numbers, all of one length")
}

func listElements(c array.ListLike, name string) (arrow.Array, int, error) {
	if c.Len() == 0 {
		return array.NewSlice(c.ListValues(), 0, 0), 0, nil
	}
	beg, end := c.ValueOffsets(0)
	width := end - beg
	for i := 1; i < c.Len(); i++ {
		b, e := c.ValueOffsets(i)
		if e-b != width {
			return nil, 0, rowError(name, i, "has %d elements, and the first row %d: all rows need one length", e-b, width)
		}
		if b != end { // list views may lie anywhere
			return nil, 0, typeError(name, c.DataType(), "lists of numbers that follow each other")
		}
		end = e
	}
	return array.NewSlice(c.ListValues(), beg, end), int(width), nil
}
