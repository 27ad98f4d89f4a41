package tables

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/algorithms"
)

// records returns the next batch of a columnar input, and io.EOF after the last.
// A batch is valid until the next call.
type records func() (arrow.Record, error)

var errNoRows = errors.New("has no rows: give data with at least one")

// readRecords reads the tables of Arrow batches.
func readRecords(ctx context.Context, next records, ahead forecast, p *plan, o Options, mem *arrowio.Budget) ([]*Table, error) {
	if o.OnlyIDs && p.id < 0 {
		return []*Table{{}}, nil
	}
	b := newBuilder(p, o, mem, ahead)
	b.finite = true
	var widths []int
	used, counted := p.needs(), p.counted()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rec, err := next()
		if errors.Is(err, io.EOF) {
			if b.split.rows == 0 {
				return nil, errNoRows
			}
			return b.finish(ctx)
		}
		if err != nil {
			return nil, err
		}
		first := b.split.rows
		err = charged(mem, rec, func(name string) bool { return used[name] || counted[name] }, func() error {
			return addRecord(ctx, b, &recordBlock{rec: rec, plan: p, mem: mem, widths: &widths})
		})
		if err != nil {
			if at := (*arrowio.RowError)(nil); errors.As(err, &at) {
				at.Row += first
				return nil, at
			}
			return nil, fmt.Errorf("batch that begins at row %d: %w", first+1, err)
		}
	}
}

// charged calls read with the memory of what it makes of the columns of a batch that are used.
func charged(mem *arrowio.Budget, rec arrow.Record, used func(name string) bool, read func() error) error {
	cost := int64(0)
	for i, column := range rec.Columns() {
		if used(rec.ColumnName(i)) {
			cost += valuesCost(column.Data())
		}
	}
	if err := mem.Take(cost); err != nil {
		return err
	}
	defer mem.Give(cost)
	return read()
}

// valuesCost is the memory of what is made of an array: texts, which are copied, and those of them
// that are no numbers; numbers as float32, and those that are whole as float64 too, for centres.
func valuesCost(data arrow.ArrayData) (n int64) {
	switch data.DataType().ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW:
		n = 2 * int64(data.Len()) * sizeOf[string]()
		for _, b := range data.Buffers()[2:] {
			n += int64(b.Len())
		}
	case arrow.DICTIONARY:
		n = int64(data.Len())*sizeOf[string]() + valuesCost(data.Dictionary())
	case arrow.FLOAT32:
	case arrow.INT32, arrow.INT64, arrow.UINT32, arrow.UINT64:
		n = int64(data.Len()) * (sizeOf[float32]() + sizeOf[float64]())
	default:
		n = int64(data.Len()) * sizeOf[float32]()
	}
	for _, child := range data.Children() {
		n += valuesCost(child)
	}
	return n
}

// addRecord adds the rows of a batch to the tables.
func addRecord(ctx context.Context, b *builder, block *recordBlock) error {
	n := int(block.rec.NumRows())
	if n == 0 {
		return nil
	}
	first := b.split.rows
	rows, left, err := b.divide(n, block)
	if err != nil {
		return err
	}
	block.checked = left // rows that are in no part may hold anything
	read, err := b.read(block, rows)
	if err == nil {
		return b.add(ctx, read, rows, func(i int) int { return first + i })
	}
	if !left || ctx.Err() != nil {
		return err
	}
	// Rows that are left out may hold what cannot be read: read the others alone.
	for k, all := range rows {
		for _, i := range all {
			only := make([][]int, len(rows))
			only[k] = []int{0}
			if err := addRow(ctx, b, block, i, only, first+i); err != nil {
				if at := (*arrowio.RowError)(nil); errors.As(err, &at) {
					at.Row += i
				}
				return err
			}
		}
	}
	return nil
}

// addRow adds row i of a batch, which is row in of the input.
func addRow(ctx context.Context, b *builder, block *recordBlock, i int, only [][]int, in int) error {
	one := *block
	one.rec = block.rec.NewSlice(int64(i), int64(i)+1)
	defer one.rec.Release()
	read, err := b.read(&one, only)
	if err != nil {
		return err
	}
	return b.add(ctx, read, only, func(int) int { return in })
}

// A recordBlock is the rows of a batch.
type recordBlock struct {
	rec    arrow.Record
	plan   *plan
	mem    *arrowio.Budget
	widths *[]int              // of each column of plan.vectors, from the first batch with rows
	texts  map[string][]string // those of columns, from when they are settled

	checked bool // numbers are checked as they are read, and not when they are rows
}

// check reads the columns of numbers again, checked.
func (b *recordBlock) check() error {
	if b.checked {
		return nil
	}
	b.checked = true
	columns := slices.Clone(b.plan.vectors)
	for _, c := range b.plan.cells {
		if c.field.Kind == Number {
			columns = append(columns, c.field.Name)
		}
	}
	return algorithms.Each(len(columns), func(k int) error {
		if !isNumber(b.column(columns[k]).DataType()) {
			return nil // they are
		}
		_, err := b.numbers(columns[k])
		return err
	})
}

// numbers reads a column of numbers.
func (b *recordBlock) numbers(name string) ([]float32, error) {
	switch {
	case !b.checked:
		return arrowio.Floats(b.rec, name)
	case b.plan.vectors != nil:
		return arrowio.FloatColumn(b.rec, name)
	}
	return arrowio.FloatColumnWithGaps(b.rec, name)
}

func (b *recordBlock) features([][]int) ([]arrowio.Vectors, error) {
	if b.plan.vectors == nil {
		return b.readCells()
	}
	parts := make([]arrowio.Vectors, len(b.plan.vectors))
	err := algorithms.Each(len(parts), func(k int) (err error) {
		parts[k], err = b.vectors(b.plan.vectors[k])
		return err
	})
	if err != nil {
		return nil, err
	}
	for k, name := range b.plan.vectors {
		if len(*b.widths) == k {
			if err := take[float64](b.mem, parts[k].Width); err != nil { // centres
				return nil, fmt.Errorf("column %q: %w", name, err)
			}
			b.plan.offset(parts[k].Width, name, func() []float64 { return arrowio.Doubles(b.rec, name) })
			*b.widths = append(*b.widths, parts[k].Width)
		}
		if want := (*b.widths)[k]; parts[k].Width != want {
			return nil, fmt.Errorf("column %q: has lists of %d numbers, earlier rows have %d: all rows need one length", name, parts[k].Width, want)
		}
		if c := b.plan.offsets[k]; some(c) {
			parts[k].Data = centredColumn(b.rec, name, parts[k].Data, c)
		}
	}
	return parts, nil
}

func (b *recordBlock) names(column int) ([]string, error) {
	if column == b.plan.domain || column == b.plan.batch || column == b.plan.label && b.plan.options.Times {
		return domainsOf(b.rec, b.plan.header[column])
	}
	return namesOf(b.rec, b.plan.header[column])
}

func (b *recordBlock) tally([][]int) error {
	for k := range b.plan.skipped {
		s := &b.plan.skipped[k]
		name := b.plan.header[s.at]
		if at := b.rec.Schema().FieldIndices(name); !s.counts || s.tally.many || len(at) != 1 {
			continue // Parquet's are looked at by themselves
		}
		text, err := arrowio.StringColumn(b.rec, name)
		if err != nil {
			return err
		}
		for _, value := range text.Values {
			s.tally.add(value)
		}
	}
	return nil
}

// vectors reads a column of lists, or of numbers, each as a list of one.
func (b *recordBlock) vectors(name string) (arrowio.Vectors, error) {
	i := b.rec.Schema().FieldIndices(name)
	if len(i) != 1 || !isNumber(b.rec.Column(i[0]).DataType()) {
		return arrowio.VectorColumn(b.rec, name)
	}
	data, err := b.numbers(name)
	return arrowio.Vectors{Data: data, Rows: len(data), Width: 1}, err
}

// namesOf reads a column of strings or whole numbers as strings, "" for null.
func namesOf(rec arrow.Record, name string) ([]string, error) {
	i := rec.Schema().FieldIndices(name)
	if len(i) == 1 {
		if at := namer(rec.Column(i[0])); at != nil {
			return wholeNames(rec.Column(i[0]), name, at)
		}
	}
	s, err := arrowio.StringColumn(rec, name)
	if at := slices.IndexFunc(s.Values, func(value string) bool { return !utf8.ValidString(value) }); at >= 0 {
		return nil, &arrowio.RowError{Column: name, Row: at, Err: fmt.Errorf("%.40q is not valid UTF-8: mend what wrote it", s.Values[at])}
	}
	return s.Values, err
}

// domainsOf reads a column that says which domain a row is of, or its time, as strings:
// numbers as they are.
func domainsOf(rec arrow.Record, name string) ([]string, error) {
	i := rec.Schema().FieldIndices(name)
	if len(i) != 1 {
		return namesOf(rec, name)
	}
	col := rec.Column(i[0])
	if !arrow.IsFloating(col.DataType().ID()) {
		return namesOf(rec, name)
	}
	whole := namer(col)
	return wholeNames(col, name, func(i int) (string, error) {
		if text, err := whole(i); err == nil {
			return text, nil
		}
		return col.ValueStr(i), nil
	})
}

// namer returns a function that gives the value of a row as a name. It returns
// nil for a column of strings or of an unknown type.
func namer(col arrow.Array) func(i int) (string, error) {
	switch c := col.(type) {
	case *array.Boolean:
		return func(i int) (string, error) { return strconv.FormatBool(c.Value(i)), nil }
	case *array.Int64: // as identities mostly are
		return func(i int) (string, error) { return strconv.FormatInt(c.Value(i), 10), nil }
	case *array.Int32: // as labels mostly are
		return func(i int) (string, error) { return strconv.Itoa(int(c.Value(i))), nil }
	case *array.Int16, *array.Int8, *array.Uint64, *array.Uint32, *array.Uint16, *array.Uint8:
		return func(i int) (string, error) { return col.ValueStr(i), nil }
	case *array.Float64:
		return func(i int) (string, error) { return floatLabel(c.Value(i)) }
	case *array.Float32:
		return func(i int) (string, error) { return floatLabel(float64(c.Value(i))) }
	case *array.Float16:
		return func(i int) (string, error) { return floatLabel(float64(c.Value(i).Float32())) }
	case *array.Date32, *array.Date64, *array.Timestamp, *array.Time32, *array.Time64:
		return func(i int) (string, error) {
			text, _ := arrowio.Cell(col, i)
			return text, nil
		}
	case *array.Dictionary:
		return dictionaryNamer(c)
	case *array.Null:
		return func(int) (string, error) { return "", nil }
	}
	return nil
}

// dictionaryNamer is namer for a dictionary.
func dictionaryNamer(c *array.Dictionary) func(i int) (string, error) {
	at := namer(c.Dictionary())
	if at == nil {
		return nil
	}
	return func(i int) (string, error) { return at(c.GetValueIndex(i)) }
}

func wholeNames(col arrow.Array, name string, at func(i int) (string, error)) ([]string, error) {
	names := make([]string, col.Len())
	for i := range names {
		if col.IsNull(i) {
			continue
		}
		var err error
		if names[i], err = at(i); err != nil {
			return nil, &arrowio.RowError{Column: name, Row: i, Err: err}
		}
	}
	return names, nil
}
