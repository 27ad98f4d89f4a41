package tables

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
)

// Features are float32, which has 24 bits: of the seconds since 1970 it tells only every 128th
// from the next. Where the values of a column lie that close together, a centre, which the first
// rows have, is taken off as float64.

const (
	// farOff is how many times its spread a column is away from 0 when it gets a centre: up to
	// then the rounding to float32 is less than a thousandth of the spread.
	farOff = 1 << 14
	// noise is the spread relative to the values below which numbers that are not whole differ
	// by the rounding of what computed them.
	noise = 0x1p-40
	// exact is the first whole number that float32 does not tell from the next.
	exact = 1 << 24
	// centreRows is how many values, evenly over the first rows, a centre is found from.
	centreRows = 512
)

// centreOf is what is to be taken off values of which these are the first, NaN where one is
// missing: one of them, or 0 where float32 holds them well enough.
func centreOf(first []float64) float64 {
	var values []float64
	whole, small, step := true, true, max(len(first)/centreRows, 1)
	for i := 0; i < len(first); i += step {
		v := first[i]
		if w := float32(v); w-w != 0 { // missing, or too large
			continue
		}
		values = append(values, v)
		whole = whole && v == math.Trunc(v)
		small = small && math.Abs(v) < farOff
	}
	if len(values) == 0 || whole && small {
		return 0
	}
	slices.Sort(values)
	n := len(values)
	middle, spread := values[n/2], values[3*n/4]-values[n/4]
	if spread == 0 { // half of them are equal
		for _, v := range values {
			spread += (v - middle) * (v - middle) / float64(n)
		}
		spread = math.Sqrt(spread)
	}
	size := math.Abs(middle)
	switch {
	case spread == 0 && size >= exact:
		return middle // others may be near it
	case spread == 0 || size <= farOff*spread:
		return 0
	case !whole && spread < noise*size:
		return 0
	}
	return middle
}

// centred is a value as a feature. One that is too large for float32 stays so.
func centred(v, centre float64) float32 {
	if math.Abs(v) > math.MaxFloat32 {
		return float32(v)
	}
	return float32(v - centre)
}

// centreOf is that of column k of the features, which has a name, and of which the first values
// are asked for if it is not known.
func (p *plan) centreOf(k int, name string, first func() []float64) float64 {
	if at := p.options.Centres; at != nil {
		if k < len(at) {
			return at[k]
		}
		return 0
	}
	c := centreOf(first())
	if c != 0 && p.options.Whole {
		p.merged = append(p.merged, name)
		return 0
	}
	return c
}

// offset finds what is taken off the next column of vectors, by its first rows.
func (p *plan) offset(width int, name string, first func() []float64) {
	values := []float64(nil)
	if p.options.Centres == nil {
		values = first()
	}
	centres := make([]float64, width)
	for j := range centres {
		if width > 1 {
			name = strconv.Itoa(j + 1)
		}
		centres[j] = p.centreOf(p.centred+j, name, func() []float64 { return every(values, j, width) })
	}
	p.offsets = append(p.offsets, centres)
	p.centred += width
}

// Crowded names the numbers of vectors, counted from 1, that would have a centre as columns of a
// table; "" if there are none. A stream of vectors has no centres.
func Crowded(rec arrow.Record, name string, width int) string {
	var at []string
	values := arrowio.Doubles(rec, name)
	for j := range width {
		if centreOf(every(values, j, width)) != 0 {
			at = append(at, strconv.Itoa(j+1))
		}
	}
	if at == nil {
		return ""
	}
	return list(at)
}

// every are the values of column j of rows of some width, end to end.
func every(values []float64, j, width int) []float64 {
	column := make([]float64, 0, len(values)/max(width, 1))
	for ; j < len(values); j += width {
		column = append(column, values[j])
	}
	return column
}

// centres are those of the columns of a Table; nil: all are 0, or its fields have them.
func (p *plan) centres() (all []float64) {
	if p.fields() != nil {
		return nil
	}
	for _, c := range p.cells {
		all = append(all, c.field.Centre)
	}
	for _, c := range p.offsets {
		all = append(all, c...)
	}
	if !some(all) {
		return nil
	}
	return all
}

// doubtOf is what people are warned of where no centre was taken off columns that need one.
func doubtOf(columns []string) string {
	if columns == nil {
		return ""
	}
	return fmt.Sprintf("%s: the values are so close together, and so far from 0, that float32 does not tell them apart: take a number near them off first. (That is done to columns of tables, unless --log1p, --arcsinh or --logicle come after it, the rows are images, or a sketch is made.)", list(columns))
}

// centredColumn are the numbers of columns of a batch, as many side by side as there are centres,
// without these. values are the same as float32.
func centredColumn(rec arrow.Record, name string, values []float32, centres []float64) []float32 {
	doubles := arrowio.Doubles(rec, name)
	out := make([]float32, len(values))
	for i, v := range values {
		d := float64(v) // of a column that has been float32 before
		if doubles != nil {
			d = doubles[i]
		}
		out[i] = centred(d, centres[i%len(centres)])
	}
	return out
}

// some reports whether a centre is not 0.
func some(centres []float64) bool {
	return slices.ContainsFunc(centres, func(c float64) bool { return c != 0 })
}

// An offset is what is taken off the values of an array as it is read.
type offset struct {
	width, rows int
	fortran     bool
	known       []float64 // see Options.Centres
	whole       bool      // see Options.Whole
	merged      []string  // columns that would have a centre
	centres     []float64 // of each column; nil: 0
	room        []float64
}

// newOffset is for arrays of rows that are no images; nil for others.
func newOffset(a ndarray, o Options) *offset {
	if len(a.shape) == 0 || len(a.shape) > 2 || !a.element.wide() {
		return nil
	}
	f := &offset{rows: a.shape[0], width: 1, fortran: a.fortran, known: o.Centres, whole: o.Whole}
	if len(a.shape) == 2 {
		f.width = a.shape[1]
	}
	if some(o.Centres) && len(o.Centres) == f.width {
		f.centres = o.Centres
	}
	return f
}

// step is how many values to read next, of n: the first have rows to find centres from, and
// columns that follow one another come one by one.
func (f *offset) step(usual, at, n int) int {
	switch {
	case f == nil:
		return min(usual, n-at)
	case f.fortran:
		return min(usual, f.rows-at%f.rows)
	}
	return min(max(usual, min(16*f.width, maxFirst)), n-at)
}

// maxFirst is how many values are read at once at most to find centres.
const maxFirst = 1 << 20

// finds reports whether centres are found from the values at a place.
func (f *offset) finds(at int) bool {
	return f.known == nil && (at == 0 || f.fortran && at%f.rows == 0)
}

// find finds the centres of the first rows, or of the column that begins.
func (f *offset) find(values []float64, at int) {
	first, width := 0, f.width
	if f.fortran {
		first, width = at/f.rows, 1
	}
	for k := range width {
		c := centreOf(every(values, k, width))
		switch {
		case c == 0:
		case f.whole:
			f.merged = append(f.merged, strconv.Itoa(first+k+1))
		default:
			if f.centres == nil {
				f.centres = make([]float64, f.width)
			}
			f.centres[first+k] = c
		}
	}
}

// convert makes float32 of elements, the first of which is value at of all.
func (f *offset) convert(e element, dst []float32, raw []byte, at int) {
	if f == nil || f.centres == nil && !f.finds(at) {
		elementsTo(e, dst, raw)
		return
	}
	if len(f.room) < len(dst) {
		f.room = make([]float64, len(dst))
	}
	values := f.room[:len(dst)]
	elementsTo(e, values, raw)
	if f.finds(at) {
		f.find(values, at)
	}
	if f.centres == nil {
		e.big = false // they have been swapped
		elementsTo(e, dst, raw)
		return
	}
	for i, v := range values {
		column := (at + i) % f.width
		if f.fortran {
			column = (at + i) / f.rows
		}
		dst[i] = centred(v, f.centres[column])
	}
}
