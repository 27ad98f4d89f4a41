package tables

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/algorithms"
)

// settle says what the columns are, by their types and the rows of the first batch.
func (b *recordBlock) settle() error {
	p := b.plan
	b.texts = map[string][]string{}
	for k := range p.cells {
		c := &p.cells[k]
		name := c.field.Name
		t := b.rec.Schema().Field(b.rec.Schema().FieldIndices(name)[0]).Type
		switch {
		case p.categorical(name):
			c.field.Kind = Category
		case isText(t):
			values, err := b.text(name)
			if err != nil {
				return err
			}
			b.texts[name] = values // so that there is one copy
			settled, why, err := p.cellOf(k, c.at, values)
			if err != nil {
				return err
			}
			if *c = settled; why != "" { // text that could be dates
				c.field.Kind = Category
			}
		case t.ID() == arrow.TIME32 || t.ID() == arrow.TIME64:
			c.field.Kind = Clock
		case isDate(t):
			c.field.Kind, c.field.Layout = Day, yearFirst
			c.timed = t.ID() == arrow.TIMESTAMP
		case isNumber(t):
			c.field.Centre = p.centreOf(k, name, func() []float64 { return arrowio.Doubles(b.rec, name) })
		}
		if c.field.Kind == Category {
			c.category = newCategory(c.field, true)
		}
	}
	p.done()
	return nil
}

// text are the values of a column as strings, without space around them.
func (b *recordBlock) text(name string) ([]string, error) {
	if values, known := b.texts[name]; known {
		return values, nil
	}
	values, err := domainsOf(b.rec, name)
	for i, value := range values {
		values[i] = strings.TrimSpace(value)
	}
	return values, err
}

// isDate reports whether values of the type have a day.
func isDate(t arrow.DataType) bool {
	return slices.Contains([]arrow.Type{arrow.DATE32, arrow.DATE64, arrow.TIMESTAMP}, t.ID())
}

// readCells reads the columns of a batch.
func (b *recordBlock) readCells() ([]arrowio.Vectors, error) {
	if !b.plan.settled {
		if err := b.settle(); err != nil {
			return nil, err
		}
	}
	rows := int(b.rec.NumRows())
	parts := make([]arrowio.Vectors, len(b.plan.cells))
	return parts, algorithms.Each(len(parts), func(k int) (err error) {
		c := &b.plan.cells[k]
		part := arrowio.Vectors{Rows: rows, Width: len(c.fields())}
		if name := c.field.Name; c.field.Kind == Number && isNumber(b.column(name).DataType()) {
			part.Data, err = b.numbers(name)
			if err == nil && !c.plain() {
				part.Data = centredColumn(b.rec, name, part.Data, []float64{c.field.Centre})
			}
		} else {
			part.Data = make([]float32, rows*part.Width)
			err = b.readColumn(c, part.Data, part.Width)
		}
		parts[k] = part
		return err
	})
}

func (b *recordBlock) column(name string) arrow.Array {
	return b.rec.Column(b.rec.Schema().FieldIndices(name)[0])
}

// readColumn reads a column that holds other things than numbers, or numbers as text.
func (b *recordBlock) readColumn(cell *cell, data []float32, width int) error {
	name := cell.field.Name
	col := b.column(name)
	t := col.DataType()
	switch {
	case cell.field.Kind == Number && t.ID() == arrow.DURATION:
		unit := t.(*arrow.DurationType).Unit.Multiplier().Seconds()
		for i, v := range col.(*array.Duration).DurationValues() {
			if data[i] = float32(float64(v) * unit); col.IsNull(i) {
				data[i] = missingCell()
			}
		}
		return nil
	case cell.field.Kind == Day || cell.field.Kind == Clock:
		if at := momentOf(col, t); at != nil {
			return readMoments(col, at, cell, data, width)
		}
	}
	texts, err := b.text(name)
	if err != nil {
		return err
	}
	for i, text := range texts {
		row := data[i*width:][:width]
		switch cell.field.Kind {
		case Category:
			row[0], err = cell.category.code(text, b.mem)
		case Number:
			row[0], err = b.plan.value(text, cell.field.Centre)
		default:
			err = cell.readMoment(row, text)
		}
		if err != nil {
			return &arrowio.RowError{Column: name, Row: i, Err: err}
		}
	}
	return nil
}

// momentOf gives the values of a column of dates or times, in UTC as in text; nil of another.
func momentOf(col arrow.Array, t arrow.DataType) func(i int) time.Time {
	switch a := col.(type) {
	case *array.Date32:
		return func(i int) time.Time { return a.Value(i).ToTime() }
	case *array.Date64:
		return func(i int) time.Time { return a.Value(i).ToTime() }
	case *array.Time32:
		return func(i int) time.Time { return a.Value(i).ToTime(t.(*arrow.Time32Type).Unit) }
	case *array.Time64:
		return func(i int) time.Time { return a.Value(i).ToTime(t.(*arrow.Time64Type).Unit) }
	case *array.Timestamp:
		unit := t.(*arrow.TimestampType).Unit
		return func(i int) time.Time { return a.Value(i).ToTime(unit) }
	}
	return nil
}

func readMoments(col arrow.Array, at func(i int) time.Time, cell *cell, data []float32, width int) error {
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
