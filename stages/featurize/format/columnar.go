package format

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
)

// records returns the next batch of a columnar input, and io.EOF after the last.
// A batch is valid until the next call.
type records func() (arrow.Record, error)

// readRecords reads a table of Arrow batches.
func readRecords(ctx context.Context, next records, p *columnPlan, mem *arrowio.Budget) (*Table, error) {
	t := &columnTable{plan: p, mem: mem}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		rec, err := next()
		if errors.Is(err, io.EOF) {
			return t.finish(ctx)
		}
		if err != nil {
			return nil, err
		}
		if err := t.add(ctx, rec); err != nil {
			return nil, fmt.Errorf("batch that begins at row %d: %w", t.rows, err)
		}
	}
}

// A columnPlan names the columns of a columnar input that are read.
type columnPlan struct {
	features, skipped []string
	label, id         string // "" if there is none or it is not needed
}

func planColumns(schema *arrow.Schema, o Options) (*columnPlan, error) {
	header := make([]string, schema.NumFields())
	for i, f := range schema.Fields() {
		header[i] = f.Name
	}
	label, id, err := roles(header, o)
	if err != nil {
		return nil, err
	}
	features, err := chosen(header, label, id, o.Columns)
	if err != nil {
		return nil, err
	}
	if len(o.Columns) == 0 {
		if features, err = usualFeatures(schema, label, id); err != nil {
			return nil, err
		}
	}
	p := &columnPlan{}
	used := setOf(features)
	for i, name := range header {
		if err := checkType(schema.Field(i), used[i], i == label || i == id); err != nil {
			return nil, err
		}
		switch {
		case i == label && o.Labels == "" && !o.NoLabels:
			p.label = name
		case i == id:
			p.id = name
		case i != label && !used[i]:
			p.skipped = append(p.skipped, name)
		}
	}
	for _, i := range features {
		p.features = append(p.features, header[i])
	}
	return p, nil
}

// uses is the set of the columns that the plan reads.
func (p *columnPlan) uses() map[string]bool {
	set := map[string]bool{p.label: true, p.id: true}
	for _, name := range p.features {
		set[name] = true
	}
	return set
}

// usualFeatures returns the feature columns if none were named: the only column
// of lists, otherwise all columns of numbers.
func usualFeatures(schema *arrow.Schema, label, id int) ([]int, error) {
	var lists, numbers []int
	var listNames, names []string
	for i, f := range schema.Fields() {
		names = append(names, f.Name)
		switch {
		case i == label || i == id || slices.Contains(reserved, f.Name):
		case isList(f.Type):
			lists, listNames = append(lists, i), append(listNames, f.Name)
		case isNumber(f.Type):
			numbers = append(numbers, i)
		}
	}
	switch {
	case len(lists) == 1:
		return lists, nil
	case len(lists) > 1:
		return nil, fmt.Errorf("has several columns of lists (%s): name the one with the features", list(listNames))
	case len(numbers) == 0:
		return nil, fmt.Errorf("has no column of numbers or lists for features (its columns are %s): name the feature columns", list(names))
	}
	return numbers, nil
}

// checkType returns an error if the type of a column does not fit its role:
// feature, or name (label or id).
func checkType(f arrow.Field, feature, name bool) error {
	if feature && !isNumber(f.Type) && !isList(f.Type) {
		return fmt.Errorf("column %q: has type %s: features must be numbers, or lists of numbers", f.Name, f.Type)
	}
	if name && arrow.IsNested(f.Type.ID()) {
		return fmt.Errorf("column %q: has type %s: labels and ids must be strings or whole numbers", f.Name, f.Type)
	}
	return nil
}

// isNumber reports whether values of the type are numbers: true and false are 1 and 0.
func isNumber(t arrow.DataType) bool {
	return arrow.IsInteger(t.ID()) || arrow.IsFloating(t.ID()) || arrow.IsDecimal(t.ID()) || t.ID() == arrow.BOOL
}

func isList(t arrow.DataType) bool {
	if ext, ok := t.(arrow.ExtensionType); ok {
		t = ext.StorageType()
	}
	l, ok := t.(arrow.ListLikeType)
	return ok && isNumber(l.Elem())
}

// A columnTable grows batch by batch.
type columnTable struct {
	plan   *columnPlan
	mem    *arrowio.Budget
	data   []float32
	rows   int
	widths []int // of each feature column, from the first batch with rows
	labels []string
	ids    []string
}

func (t *columnTable) add(ctx context.Context, rec arrow.Record) error {
	if rec.NumRows() == 0 {
		return nil
	}
	if err := t.addFeatures(ctx, rec); err != nil {
		return err
	}
	if t.plan.label != "" {
		names, err := namesOf(rec, t.plan.label)
		if err != nil {
			return err
		}
		if t.labels, err = t.keep(t.labels, names); err != nil {
			return err
		}
	}
	if t.plan.id != "" {
		names, err := namesOf(rec, t.plan.id)
		if err != nil {
			return err
		}
		if t.ids, err = t.keep(t.ids, names); err != nil {
			return err
		}
	}
	t.rows += int(rec.NumRows())
	return nil
}

// keep appends names, which the batch does not share.
func (t *columnTable) keep(all, names []string) ([]string, error) {
	var size int64
	for _, name := range names {
		size += int64(len(name))
	}
	if err := t.mem.Take(size); err != nil {
		return nil, err
	}
	at := len(all)
	all, err := extend(t.mem, all, len(names), maxElements)
	if err != nil {
		return nil, err
	}
	copy(all[at:], names)
	return all, nil
}

// addFeatures appends the rows, with the feature columns side by side.
func (t *columnTable) addFeatures(ctx context.Context, rec arrow.Record) error {
	parts := make([]arrowio.Vectors, len(t.plan.features))
	width := 0
	for k, name := range t.plan.features {
		v, err := vectorsOf(rec, name)
		if err != nil {
			return err
		}
		if len(t.widths) == k {
			t.widths = append(t.widths, v.Width)
		}
		if v.Width != t.widths[k] {
			return fmt.Errorf("column %q: has lists of %d numbers, earlier rows have %d: all rows need one length", name, v.Width, t.widths[k])
		}
		parts[k], width = v, width+v.Width
	}
	at := len(t.data)
	var err error
	if t.data, err = extend(t.mem, t.data, int(rec.NumRows())*width, maxElements); err != nil {
		return err
	}
	for i := range int(rec.NumRows()) {
		if err := ended(ctx, i); err != nil {
			return err
		}
		for _, v := range parts {
			at += copy(t.data[at:], v.Row(i))
		}
	}
	return nil
}

// vectorsOf reads a column of lists, or of numbers, each as a list of one.
func vectorsOf(rec arrow.Record, name string) (arrowio.Vectors, error) {
	if i := rec.Schema().FieldIndices(name); len(i) == 1 && isNumber(rec.Column(i[0]).DataType()) {
		data, err := arrowio.FloatColumn(rec, name)
		return arrowio.Vectors{Data: data, Rows: len(data), Width: 1}, err
	}
	return arrowio.VectorColumn(rec, name)
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
	return s.Values, err
}

// namer returns a function that gives the value of a row as a name. It returns
// nil for a column of strings or of an unknown type.
func namer(col arrow.Array) func(i int) (string, error) {
	switch c := col.(type) {
	case *array.Boolean:
		return func(i int) (string, error) { return strconv.Itoa(b2i(c.Value(i))), nil }
	case *array.Uint64:
		return func(i int) (string, error) { return strconv.FormatUint(c.Value(i), 10), nil }
	case *array.Int64:
		return func(i int) (string, error) { return strconv.FormatInt(c.Value(i), 10), nil }
	case *array.Int32:
		return func(i int) (string, error) { return strconv.Itoa(int(c.Value(i))), nil }
	case *array.Int16:
		return func(i int) (string, error) { return strconv.Itoa(int(c.Value(i))), nil }
	case *array.Int8:
		return func(i int) (string, error) { return strconv.Itoa(int(c.Value(i))), nil }
	case *array.Uint32:
		return func(i int) (string, error) { return strconv.Itoa(int(c.Value(i))), nil }
	case *array.Uint16:
		return func(i int) (string, error) { return strconv.Itoa(int(c.Value(i))), nil }
	case *array.Uint8:
		return func(i int) (string, error) { return strconv.Itoa(int(c.Value(i))), nil }
	case *array.Float64:
		return func(i int) (string, error) { return floatLabel(c.Value(i)) }
	case *array.Float32:
		return func(i int) (string, error) { return floatLabel(float64(c.Value(i))) }
	case *array.Float16:
		return func(i int) (string, error) { return floatLabel(float64(c.Value(i).Float32())) }
	case *array.Dictionary:
		return dictionaryNamer(c)
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

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func wholeNames(col arrow.Array, name string, at func(i int) (string, error)) ([]string, error) {
	names := make([]string, col.Len())
	for i := range names {
		if col.IsNull(i) {
			continue
		}
		var err error
		if names[i], err = at(i); err != nil {
			return nil, fmt.Errorf("column %q: row %d: %w", name, i, err)
		}
	}
	return names, nil
}

func (t *columnTable) finish(ctx context.Context) (*Table, error) {
	if t.rows == 0 {
		return nil, errors.New("has no rows: give data with at least one")
	}
	width := len(t.data) / t.rows
	out, err := newTable(ctx, t.data, t.rows, width, []int{width}, t.mem)
	if err != nil {
		return nil, err
	}
	if width == len(t.plan.features) {
		out.Columns = t.plan.features
	}
	out.Labels, out.Skipped = t.labels, t.plan.skipped
	if t.plan.id != "" {
		if err := out.setIDs(ctx, t.ids); err != nil {
			return nil, fmt.Errorf("column %q: %w", t.plan.id, err)
		}
	}
	return out, nil
}
