package tables

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio"
)

// A Table is the data of one domain: n rows of d features, with labels and
// identities where the input has them.
type Table struct {
	Name     string         // the input, for messages
	Features blas32.General // n×d, n and d at least 1, every value finite, or NaN in Fields
	Shape    []int          // [C, H, W] for images, [d] otherwise
	Columns  []string       // the d features' names; nil if the input has none
	Lists    []string       // columns of lists, whose numbers are features
	Fields   []Field        // what the columns are, if that was asked for; nil: numbers
	Centres  []float64      // what was taken off the numbers of each column, see Options.Centres; nil: nothing
	Skipped  []Skipped      // columns of the input that were not read
	Cofactor float64        // of arcsinh, as is usual for the cytometer of an FCS file; 0: it is none
	Unread   string         // the column of labels, if it was not read
	Note     string         // what people are told of how the input was read; "" for nothing
	Doubt    string         // what they are warned of; "" for nothing

	// Largest is the largest value that the stored type can hold, for scaling
	// to [0, 1]: 255 for uint8, 65535 for uint16, 0 for all others.
	Largest float32

	// Labels are the class names of the rows, "" for a row without a label. They
	// are nil if the input has no labels or they were not read. Numbers are
	// written as integers: 3.0 is "3".
	Labels []string

	// Batches are those of the rows, by Options.Batch; nil without.
	Batches []string

	// Levels are the classes of the rows at each of Options.Levels, "" where none is said; nil
	// where Labels are.
	Levels [][]string

	// IDInts or IDNames are the unique identities of the rows. Both are nil if
	// the input has none.
	IDInts  []int64
	IDNames []string

	Pictures bool // the rows are pictures of files, which Options.Fit has fitted

	paths  []string        // of the column Options.Image
	bad    []int           // rows of pictures that cannot be read
	origin                 // where the rows were in the input
	others []Count         // rows of the input that are in no part
	mem    *arrowio.Budget // what the table was read with
}

// Row returns row i, which shares its memory with t.
func (t *Table) Row(i int) []float32 {
	return t.Features.Data[i*t.Features.Stride : i*t.Features.Stride+t.Features.Cols]
}

// Gather returns a table of the given rows of t, in that order: t itself if these are
// all its rows. Otherwise features are copied; names share their memory with t. It
// returns ctx.Err() if ctx ends.
func (t *Table) Gather(ctx context.Context, rows []int) (*Table, error) {
	if t.isWhole(rows) {
		return t, nil
	}
	d := t.Features.Cols
	if err := take[float32](t.mem, len(rows)*d); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, Limited(err))
	}
	out := *t
	out.Features = blas32.General{Rows: len(rows), Cols: d, Stride: d, Data: make([]float32, 0, len(rows)*d)}
	for k, i := range rows {
		if err := ended(ctx, k); err != nil {
			return nil, err
		}
		out.Features.Data = append(out.Features.Data, t.Row(i)...)
	}
	out.Labels, out.Batches = Chosen(t.Labels, rows), Chosen(t.Batches, rows)
	out.Levels = make([][]string, len(t.Levels))
	for l, names := range t.Levels {
		out.Levels[l] = Chosen(names, rows)
	}
	out.IDInts = Chosen(t.IDInts, rows)
	out.IDNames = Chosen(t.IDNames, rows)
	out.at = make([]int, len(rows))
	for k, i := range rows {
		out.at[k] = t.In(i)
	}
	return &out, nil
}

// Select returns t with those of its columns that have the names, in that order, in the
// memory of t. All must be there.
func (t *Table) Select(names []string) *Table {
	at := map[string][]int{} // a date and its time have one name
	for j, column := range t.Columns {
		at[column] = append(at[column], j)
	}
	var from []int
	for _, name := range names {
		from = append(from, at[name]...)
	}
	return t.Pick(from)
}

// Pick returns t with those of its columns, in the memory of t.
func (t *Table) Pick(from []int) *Table {
	if len(from) == len(t.Columns) && slices.IsSorted(from) {
		return t
	}
	n, row := len(from), make([]float32, t.Features.Cols)
	out := *t
	out.Features.Cols, out.Features.Stride = n, n
	for i := range t.Features.Rows {
		copy(row, t.Row(i))
		for k, j := range from {
			out.Features.Data[i*n+k] = row[j]
		}
	}
	out.Features.Data = out.Features.Data[:t.Features.Rows*n]
	out.Columns, out.Fields, out.Centres, out.Shape = Chosen(t.Columns, from), Chosen(t.Fields, from), Chosen(t.Centres, from), []int{n}
	return &out
}

// Map returns t with other features, each of which has a name, that f makes of a row. It takes
// the place of t. It returns ctx.Err() if ctx ends.
func (t *Table) Map(ctx context.Context, columns []string, f func(row, out []float32)) (*Table, error) {
	n, d := t.Features.Rows, len(columns)
	if err := take[float32](t.mem, n*d); err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name, Limited(err))
	}
	out := *t
	out.Features = blas32.General{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}
	out.Columns, out.Fields, out.Shape = columns, nil, []int{d}
	for i := range n {
		if err := ended(ctx, i); err != nil {
			return nil, err
		}
		f(t.Row(i), out.Row(i))
	}
	give[float32](t.mem, cap(t.Features.Data))
	t.Features.Data = nil
	return &out, nil
}

// Fill puts a value into the cells of each column that have none, but not into rows without any
// value. They are then numbers.
func (t *Table) Fill(values []float32) {
	for i := range t.Features.Rows {
		row := t.Row(i)
		if IsMissing(row) {
			continue
		}
		for j, v := range row {
			if v != v {
				row[j] = values[j]
			}
		}
	}
	t.Fields = nil
}

// IsMissing reports whether a row has no value: all of it is NaN.
func IsMissing(row []float32) bool {
	return len(row) > 0 && !slices.ContainsFunc(row, func(v float32) bool { return v == v })
}

// isWhole reports whether rows are those of t, in their order.
func (t *Table) isWhole(rows []int) bool {
	if len(rows) != t.Features.Rows {
		return false
	}
	for k, i := range rows {
		if k != i {
			return false
		}
	}
	return true
}

// Chosen are the values of those rows; nil of none.
func Chosen[T any](values []T, rows []int) []T {
	if values == nil {
		return nil
	}
	out := make([]T, len(rows))
	for k, i := range rows {
		out[k] = values[i]
	}
	return out
}

// Reshape gives the d features of a row this shape, such as [1, 28, 28]. It fails
// if the shape has another size.
func (t *Table) Reshape(shape []int) error {
	size, ok := product(shape)
	if !ok || size != t.Features.Cols {
		return fmt.Errorf("%s: shape %v needs another number of features than the %d of a row: give a shape of that size", t.Name, shape, t.Features.Cols)
	}
	t.Shape = slices.Clone(shape)
	return nil
}

// product returns the size of an array of this shape. ok is false if a dimension
// is negative or the size is greater than maxElements.
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

// maxElements is the greatest size of an array: 2³¹ numbers, 8 GB as float32.
const maxElements = 1 << 31

// newBlock returns rows that follow others of a table, which it gives no shape. Its memory,
// which is that of the next block too, is in no budget. Its values are not checked.
func newBlock(data []float32, fields []Field, cols int) *Table {
	return &Table{Features: blas32.General{Rows: len(data) / cols, Cols: cols, Stride: cols, Data: data}, Shape: []int{cols}, Fields: fields}
}

// newTable returns a table with data (row-major) as its features. It fails if
// there are no rows or no features, or if a value is not finite.
func newTable(ctx context.Context, data []float32, rows, cols int, shape []int, mem *arrowio.Budget) (*Table, error) {
	t, err := newMixedTable(data, nil, rows, cols, shape, mem)
	if err != nil {
		return nil, err
	}
	return t, t.checkFinite(ctx, 0)
}

// newMixedTable is newTable with fields, in which values may be missing. Its values are not
// checked.
func newMixedTable(data []float32, fields []Field, rows, cols int, shape []int, mem *arrowio.Budget) (*Table, error) {
	if rows == 0 || cols == 0 {
		return nil, fmt.Errorf("holds %d rows of %d features: give data with at least one of each", rows, cols)
	}
	t := &Table{
		Features: blas32.General{Rows: rows, Cols: cols, Stride: cols, Data: data},
		Shape:    shape,
		Fields:   fields,
		mem:      mem,
	}
	return t, nil
}

// checkFinite returns an error if a value is not finite. There are rows before those of t.
func (t *Table) checkFinite(ctx context.Context, before int) error {
	data, cols := t.Features.Data, t.Features.Cols
	for lo := 0; lo < len(data); lo += stepValues {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i, v := range data[lo:min(lo+stepValues, len(data))] {
			if k := lo + i; math.Float32bits(v)&0x7f800000 == 0x7f800000 && (t.Fields == nil || v == v) {
				return fmt.Errorf("row %d, feature %d (both counted from 1): is %s: fill or drop the row", before+k/cols+1, k%cols+1, nonFinite(v))
			}
		}
	}
	return nil
}

func nonFinite(v float32) string {
	if v != v {
		return "NaN"
	}
	return "infinite, or too large for float32"
}

// checkRows returns an error if there is not one label for each row.
func (t *Table) checkRows(labels []string, what string) error {
	if labels != nil && len(labels) != t.Features.Rows {
		return fmt.Errorf("%d rows but %d labels (%s): give labels of the same rows", t.Features.Rows, len(labels), what)
	}
	return nil
}
