package stream

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
)

// Shape is the shape of the vectors in a column: what its field's metadata say,
// or a plain row of width numbers.
func Shape(s *arrow.Schema, column string, width int) ([]int, error) {
	for _, i := range s.FieldIndices(column) {
		text, ok := s.Field(i).Metadata.GetValue(arrowio.ShapeKey)
		if !ok {
			continue
		}
		shape, err := stages.ParseShape(text)
		if err != nil {
			return nil, fmt.Errorf("column %q: its metadata key %s: %w", column, arrowio.ShapeKey, err)
		}
		return shape, CheckShape(shape, width)
	}
	return []int{width}, nil
}

// CheckShape reports a shape that is not that of rows of width numbers.
func CheckShape(shape []int, width int) error {
	product := 1
	for _, n := range shape {
		product *= n
	}
	if product != width {
		return fmt.Errorf("a shape of %s is %d numbers, and the rows have %d: give the true one with --shape", stages.FormatShape(shape), product, width)
	}
	return nil
}

// ShapeOr is the shape asked for, or that of the column; it is checked against
// the width of its rows.
func (r *Rows) ShapeOr(asked []int, column string, width int) ([]int, error) {
	shape, err := asked, error(nil)
	if asked == nil {
		shape, err = Shape(r.Schema(), column, width)
	} else {
		err = CheckShape(asked, width)
	}
	if err != nil {
		return nil, r.Fail(column, err, "")
	}
	return shape, nil
}
