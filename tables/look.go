package tables

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
)

// A Look is what the first rows of an input hold, as a person wants to see them.
type Look struct {
	Name    string
	Format  string
	Columns []Seen
	Rows    int        // that were looked at
	More    bool       // there are others
	Head    [][]string // the first ones: a cell for each column, "" where a value is missing
}

// Bounds of a look: it ends with the first that is reached, so that a first look at a large
// file takes no longer than at a small one, and as little memory.
const (
	lookRows  = 10_000
	lookCells = 1 << 18
	lookBytes = 16 << 20
)

// LookAt looks at the first rows of an input of any format, at head of them at least. The path is
// of one file, or "-". Formats of arrays, which have no named columns, are read whole.
func LookAt(ctx context.Context, path string, o Options, head int) (*Look, error) {
	if o.Memory == nil {
		o.Memory = arrowio.NewBudget(0)
	}
	path, inner, err := splitPath(path)
	if err != nil {
		return nil, err
	}
	o.X, o.Y, _ = strings.Cut(inner, ",")
	f, err := openRead(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l := &looker{Look: Look{Name: path}, head: head}
	if path == "-" {
		l.Name = StandardInput
	}
	if file, ok := f.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.IsDir() {
			return nil, fmt.Errorf("%s: is a folder: name a file in it", path)
		}
	}
	if err := l.open(ctx, f, o); err != nil {
		return nil, named(l.Name, err)
	}
	return &l.Look, ctx.Err()
}

// A looker takes rows in.
type looker struct {
	Look
	head   int
	in     *input
	nested []bool     // columns whose values are not counted
	cells  [][]string // of each column
	bytes  int
}

func (l *looker) open(ctx context.Context, r io.Reader, o Options) error {
	in, err := newInput(ctx, r, l.Name, o)
	if err != nil {
		return err
	}
	defer in.reading.Close()
	l.in, l.Format = in, in.format.name
	if !in.format.hasColumns() {
		tables, err := readTables(ctx, in, o)
		if err != nil {
			return err
		}
		l.addTable(tables[0])
		return nil
	}
	o.lists = true
	return openColumns(ctx, in, o, func(schema *arrow.Schema, next records) error {
		flat, _ := flatSchema(schema)
		l.begin(flat)
		next = flattened(schema, next)
		for !l.More {
			rec, err := next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
			l.add(rec)
		}
		l.finish(o)
		return nil
	})
}

// addTable looks at the rows of arrays: their label, and their numbers as one column.
func (l *looker) addTable(t *Table) {
	rows := min(t.Features.Rows, max(lookRows, l.head))
	fields := []arrow.Field{{Name: "features", Type: arrowio.VectorType(t.Features.Cols)}}
	columns := []arrow.Array{arrowio.NewVectorArray(arrowio.Vectors{Data: t.Features.Data[:rows*t.Features.Cols], Rows: rows, Width: t.Features.Cols})}
	if t.Labels != nil {
		fields = append(fields, arrow.Field{Name: "label", Type: arrow.BinaryTypes.String})
		columns = append(columns, arrowio.NewStringArray(t.Labels[:rows]))
	}
	schema := arrow.NewSchema(fields, nil)
	rec := array.NewRecord(schema, columns, int64(rows))
	defer rec.Release()
	for _, c := range columns {
		c.Release()
	}
	l.begin(schema)
	l.add(rec)
	l.More = l.More || rows < t.Features.Rows
	l.finish(Options{})
}

func (l *looker) begin(schema *arrow.Schema) {
	for _, f := range schema.Fields() {
		l.Columns = append(l.Columns, Seen{Name: f.Name, Type: typeName(f.Type), Numbers: isNumber(f.Type)})
		l.nested = append(l.nested, arrow.IsNested(f.Type.ID()))
	}
	l.cells = make([][]string, len(l.Columns))
}

// add takes rows in until there are enough.
func (l *looker) add(rec arrow.Record) {
	for i := range int(rec.NumRows()) {
		if l.Rows >= l.head && (l.Rows >= lookRows || l.Rows*len(l.cells) >= lookCells || l.bytes >= lookBytes) {
			l.More = true
			return
		}
		row := make([]string, len(l.cells))
		for k, column := range rec.Columns() {
			row[k], _ = arrowio.Brief(column, i)
			row[k] = strings.TrimSpace(row[k])
			l.cells[k] = append(l.cells[k], row[k])
			l.bytes += len(row[k])
		}
		if l.Rows++; l.Rows <= l.head {
			l.Head = append(l.Head, row)
		}
	}
}

// finish says what the columns are.
func (l *looker) finish(o Options) {
	number := func(text string) (float64, error) { return strconv.ParseFloat(text, 64) }
	if l.in.format == textFormat {
		p := l.plan(o)
		number = func(text string) (float64, error) { return p.number(text, 64) }
	}
	for k := range l.Columns {
		if c := &l.Columns[k]; l.nested[k] {
			c.Missing = len(l.cells[k]) - len(slices.DeleteFunc(l.cells[k], isMissing))
		} else {
			c.sum(l.cells[k], number)
		}
	}
}

// plan finds what columns of text hold and how numbers are written in them, as it is done when they
// are read. What is refused then is text.
func (l *looker) plan(o Options) *plan {
	p := &plan{options: o, decimal: o.Decimal, categorical: Matcher(nil)}
	p.options.Mixed, p.options.Whole = true, true
	var all []int
	for k, c := range l.Columns {
		p.header, all = append(p.header, c.Name), append(all, k)
	}
	sample := make([][]string, min(l.Rows, settleRows))
	for i := range sample {
		for k := range all {
			sample[i] = append(sample[i], l.cells[k][i])
		}
	}
	p.awaitStyle(l.in.comma)
	styled := p.findStyle(all, sample)
	for k := range l.Columns {
		c, why, err := p.cellOf(k, k, l.cells[k][:len(sample)])
		l.Columns[k].Type = typeOf(c, why)
		if styled != nil || err != nil {
			l.Columns[k].Type = "text"
		}
		l.Columns[k].Numbers = l.Columns[k].Type == "number"
	}
	return p
}
