package format

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/blas/blas32"
)

// A Table is the data of one domain: n rows of d features, with labels and
// identities where the input has them.
type Table struct {
	Name     string         // the input, for messages
	Features blas32.General // n×d, n and d at least 1, every value finite
	Shape    []int          // [C, H, W] for images, [d] otherwise
	Columns  []string       // the d features' names, nil where the input has none
	Skipped  []string       // columns of the input that were not read

	// Largest is the largest value that the stored type can hold, for scaling
	// to [0, 1]: 255 for uint8, 65535 for uint16, 0 for all others.
	Largest float32

	// Labels are the rows' class names, "" where a row has none; nil where
	// the input has no labels or they were not asked for. Numbers are written
	// as integers: 3.0 is "3".
	Labels []string

	// IDInts or IDNames identify the rows, each differently; both are nil
	// where the input has no identities.
	IDInts  []int64
	IDNames []string
}

// Row is a view of row i.
func (t *Table) Row(i int) []float32 {
	return t.Features.Data[i*t.Features.Stride : i*t.Features.Stride+t.Features.Cols]
}

// Gather is a table of the given rows of t, in their order. Features are
// copied, and names shared.
func (t *Table) Gather(rows []int) *Table {
	d := t.Features.Cols
	out := *t
	out.Features = blas32.General{Rows: len(rows), Cols: d, Stride: d, Data: make([]float32, 0, len(rows)*d)}
	for _, i := range rows {
		out.Features.Data = append(out.Features.Data, t.Row(i)...)
	}
	out.Labels = gather(t.Labels, rows)
	out.IDInts = gather(t.IDInts, rows)
	out.IDNames = gather(t.IDNames, rows)
	return &out
}

func gather[T any](values []T, rows []int) []T {
	if values == nil {
		return nil
	}
	out := make([]T, len(rows))
	for k, i := range rows {
		out[k] = values[i]
	}
	return out
}

// Reshape says that the d features of a row are an array of this shape, such as
// [1, 28, 28]. A shape of another size is an error.
func (t *Table) Reshape(shape []int) error {
	size, ok := product(shape)
	if !ok || size != t.Features.Cols {
		return fmt.Errorf("%s: shape %v needs another number of features than the %d of a row: give a shape of that size", t.Name, shape, t.Features.Cols)
	}
	t.Shape = slices.Clone(shape)
	return nil
}

// product is the size of an array of that shape; ok is false where a dimension
// is negative or the size is not far below the range of int.
func product(shape []int) (size int, ok bool) {
	size = 1
	for _, n := range shape {
		if n < 0 || n > maxElements || size*n > maxElements {
			return 0, false
		}
		size *= n
	}
	return size, true
}

// maxElements bounds the size of an array: 2³¹ numbers, 8 GB as float32.
const maxElements = 1 << 31

// newTable checks what every reader must give: rows, features, and finite
// values; then it takes data (row-major) as the features.
func newTable(data []float32, rows, cols int, shape []int) (*Table, error) {
	if rows == 0 || cols == 0 {
		return nil, fmt.Errorf("holds %d rows of %d features: give data with at least one of each", rows, cols)
	}
	t := &Table{
		Features: blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: data},
		Shape:    shape,
	}
	for k, v := range data {
		if math.Float32bits(v)&0x7f800000 == 0x7f800000 {
			return nil, fmt.Errorf("row %d, feature %d (both counted from 0): is %s: fill or drop the row", k/cols, k%cols, nonFinite(v))
		}
	}
	return t, nil
}

func nonFinite(v float32) string {
	if v != v {
		return "NaN"
	}
	return "infinite, or too large for float32"
}

// checkRows says whether labels belong to rows by their number.
func (t *Table) checkRows(labels []string, what string) error {
	if labels != nil && len(labels) != t.Features.Rows {
		return fmt.Errorf("%d rows but %d labels (%s): give labels of the same rows", t.Features.Rows, len(labels), what)
	}
	return nil
}

// setIDs takes the rows' identities, as integers where all are; a missing or a
// repeated one is an error.
func (t *Table) setIDs(names []string) error {
	seen := make(map[string]int, len(names))
	for i, name := range names {
		if name == "" {
			return fmt.Errorf("row %d (counted from 0): has no id: fill it, or choose another id column", i)
		}
		if first, twice := seen[name]; twice {
			return fmt.Errorf("rows %d and %d (counted from 0): both have id %q: make ids unique, or choose another id column", first, i, name)
		}
		seen[name] = i
	}
	t.IDNames = names
	ints := make([]int64, len(names))
	for i, name := range names {
		v, err := strconv.ParseInt(name, 10, 64)
		if err != nil || strconv.FormatInt(v, 10) != name {
			return nil
		}
		ints[i] = v
	}
	t.IDInts, t.IDNames = ints, nil
	return nil
}
