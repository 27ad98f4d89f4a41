package tables

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
)

// A columnCells reads the feature columns of mixed batches. What a column of text holds is
// settled by the first batch.
type columnCells struct {
	text textPlan // reads the values of text
}

// newColumnCells is for features of a schema; nil if they are not mixed, as columns of lists.
func newColumnCells(schema *arrow.Schema, features []string, o Options) (*columnCells, error) {
	if !o.Mixed {
		return nil, nil
	}
	c := &columnCells{text: textPlan{header: features, options: o, decimal: o.Decimal, roles: noRoles}}
	for i, name := range features {
		f := schema.Field(schema.FieldIndices(name)[0])
		if isList(f.Type) {
			return nil, nil
		}
		c.text.cells = append(c.text.cells, textCell{at: i, field: Field{Name: name}})
	}
	if o.Fields != nil {
		c.text.cells = nil
		return c, c.text.use(o.Fields)
	}
	return c, nil
}

// settle says what the columns are, by their types and the rows of the first batch.
func (c *columnCells) settle(rec arrow.Record) error {
	for k := range c.text.cells {
		cell := &c.text.cells[k]
		name := cell.field.Name
		t := rec.Schema().Field(rec.Schema().FieldIndices(name)[0]).Type
		switch {
		case c.text.options.categorical(name):
			cell.field.Kind = Category
		case isText(t):
			values, err := arrowio.StringColumn(rec, name)
			if err != nil {
				return err
			}
			settled, why, err := c.text.cellOf(k, trimmed(values.Values))
			if err != nil {
				return err
			}
			if *cell = settled; why != "" { // text that could be dates
				cell.field.Kind = Category
			}
		case t.ID() == arrow.TIME32 || t.ID() == arrow.TIME64:
			cell.field.Kind = Clock
		case isDate(t):
			cell.field.Kind, cell.field.Layout = Day, yearFirst
			cell.timed = t.ID() == arrow.TIMESTAMP
		}
		if cell.field.Kind == Category {
			cell.category = newCategory(cell.field, true)
		}
	}
	c.text.done()
	return nil
}

func trimmed(values []string) []string {
	out := make([]string, len(values))
	for i, value := range values {
		out[i] = strings.TrimSpace(value)
	}
	return out
}

// isDate reports whether values of the type have a day.
func isDate(t arrow.DataType) bool {
	return slices.Contains([]arrow.Type{arrow.DATE32, arrow.DATE64, arrow.TIMESTAMP}, t.ID())
}

// read reads the columns of a batch.
func (c *columnCells) read(rec arrow.Record, mem *arrowio.Budget) ([]arrowio.Vectors, error) {
	if !c.text.settled {
		if err := c.settle(rec); err != nil {
			return nil, err
		}
	}
	parts := make([]arrowio.Vectors, len(c.text.cells))
	for k := range parts {
		cell := &c.text.cells[k]
		width := len(cell.fields())
		data := make([]float32, int(rec.NumRows())*width)
		if err := c.readColumn(rec, cell, data, width, mem); err != nil {
			return nil, err
		}
		parts[k] = arrowio.Vectors{Data: data, Rows: int(rec.NumRows()), Width: width}
	}
	return parts, nil
}

func (c *columnCells) readColumn(rec arrow.Record, cell *textCell, data []float32, width int, mem *arrowio.Budget) error {
	name := cell.field.Name
	col := rec.Column(rec.Schema().FieldIndices(name)[0])
	t := col.DataType()
	switch {
	case cell.field.Kind == Number && isNumber(t):
		values, err := arrowio.FloatColumnWithGaps(rec, name)
		copy(data, values)
		return err
	case cell.field.Kind == Number && t.ID() == arrow.DURATION:
		unit := t.(*arrow.DurationType).Unit.Multiplier().Seconds()
		for i, v := range col.(*array.Duration).DurationValues() {
			if data[i] = float32(float64(v) * unit); col.IsNull(i) {
				data[i] = missingCell()
			}
		}
		return nil
	case cell.field.Kind == Day || cell.field.Kind == Clock:
		at, err := momentOf(col, t)
		if err != nil {
			return fmt.Errorf("column %q: %w", name, err)
		}
		if at != nil {
			return readMoments(col, at, cell, data, width)
		}
	}
	texts, err := namesOf(rec, name)
	if err != nil {
		return err
	}
	for i, text := range texts {
		row := data[i*width:][:width]
		text = strings.TrimSpace(text)
		switch cell.field.Kind {
		case Category:
			row[0], err = cell.category.code(text, mem)
		case Number:
			row[0], err = c.text.value(text)
		default:
			err = cell.readMoment(row, text)
		}
		if err != nil {
			return &arrowio.RowError{Column: name, Row: i, Err: err}
		}
	}
	return nil
}

// momentOf gives the values of a column of dates or times; nil of another.
// A zone that is not known is an error: hours would be others than they seem.
func momentOf(col arrow.Array, t arrow.DataType) (func(i int) time.Time, error) {
	switch a := col.(type) {
	case *array.Date32:
		return func(i int) time.Time { return a.Value(i).ToTime() }, nil
	case *array.Date64:
		return func(i int) time.Time { return a.Value(i).ToTime() }, nil
	case *array.Time32:
		return func(i int) time.Time { return a.Value(i).ToTime(t.(*arrow.Time32Type).Unit) }, nil
	case *array.Time64:
		return func(i int) time.Time { return a.Value(i).ToTime(t.(*arrow.Time64Type).Unit) }, nil
	case *array.Timestamp:
		zoned := t.(*arrow.TimestampType)
		to, err := zoned.GetToTimeFunc()
		if err != nil {
			return nil, fmt.Errorf("its times are in the zone %q, which is not known: write them in UTC", zoned.TimeZone)
		}
		return func(i int) time.Time { return to(a.Value(i)) }, nil
	}
	return nil, nil
}

func readMoments(col arrow.Array, at func(i int) time.Time, cell *textCell, data []float32, width int) error {
	for i := range col.Len() {
		row := data[i*width:][:width]
		if col.IsNull(i) {
			for k := range row {
				row[k] = missingCell()
			}
			continue
		}
		v := at(i)
		year, month, day := v.Date()
		hour, minute, second := v.Clock()
		clock := float32(3600*hour + 60*minute + second)
		if row[0] = float32(dayNumber(year, int(month), day)); cell.field.Kind == Clock {
			row[0] = clock
		}
		if cell.timed {
			row[1] = clock
		}
		if math.Abs(float64(row[0])) > 1<<24 {
			row[0] = missingCell() // no year of any calendar
		}
	}
	return nil
}
