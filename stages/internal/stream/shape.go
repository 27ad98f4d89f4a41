package stream

import (
	"errors"
	"fmt"
	"math"

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
			return nil, fmt.Errorf("its metadata key %s: %w", arrowio.ShapeKey, err)
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

// ShapeOf is the shape of the vectors in a column: that asked for, if it is the features,
// or what the stream says; it is checked against the width of its rows.
func (r *Rows) ShapeOf(column string, width int) ([]int, error) {
	shape, err := r.Env.Shape, error(nil)
	if shape == nil || column != r.Columns.Features {
		shape, err = Shape(r.Schema(), column, width)
	} else {
		err = CheckShape(shape, width)
	}
	if err != nil {
		return nil, r.Fail(column, err, "")
	}
	return shape, nil
}

// minSide is the side of the smallest images that are looked for where nothing says what
// rows are.
const minSide = 8

// checkLost refuses rows of features that look like images where no metadata say whether
// they are: as plain columns they would be read otherwise, to other results. Each of x
// holds rows of the column.
func (r *Rows) checkLost(column string, width int, x ...[]float32) error {
	if column != r.Columns.Features || r.Env.Shape != nil || r.tells(column) || !pixels(x...) {
		return nil
	}
	for _, channels := range []int{1, 3} {
		side := int(math.Round(math.Sqrt(float64(width) / float64(channels))))
		if side < minSide || channels*side*side != width {
			continue
		}
		return r.Fail(column, errors.New("its rows may be images, and nothing says so: a tool in between has dropped the metadata"),
			fmt.Sprintf("give --shape %s, or --shape %d if they are %[2]d columns", stages.FormatShape([]int{channels, side, side}), width))
	}
	return nil
}

// tells reports whether the stream says where it is from, or what the column is.
func (r *Rows) tells(column string) bool {
	if meta, err := r.Meta(); err != nil || len(meta.Provenance) > 0 {
		return true
	}
	for _, i := range r.Schema().FieldIndices(column) {
		if r.Schema().Field(i).Metadata.Len() > 0 {
			return true
		}
	}
	return false
}

// pixels reports whether values are those of images: from 0 to 1, or whole ones to 255.
func pixels(x ...[]float32) bool {
	unit, bytes := true, true
	for _, values := range x {
		for _, v := range values {
			unit = unit && v >= 0 && v <= 1
			bytes = bytes && v >= 0 && v <= 255 && v == float32(int(v))
		}
	}
	return unit || bytes
}
