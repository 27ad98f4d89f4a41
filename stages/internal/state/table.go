package state

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/algorithms/mixture"
)

// A Table is a small state that other tools can read: an Arrow file with one
// row for each component or class, and what holds for all in the metadata.
type Table struct {
	name    string
	rows    int
	fields  []arrow.Field
	columns []arrow.Array
	meta    map[string]string
	err     error // the first of reading columns
}

const kindKey = "mars.state"

// NewTable begins a state of a kind ("cluster", "match", ...).
func NewTable(kind string, rows int) *Table {
	return &Table{rows: rows, meta: map[string]string{kindKey: kind}}
}

// SetMeta keeps a value that holds for all rows.
func (t *Table) SetMeta(key, value string) { t.meta[key] = value }

// Metadata are all such values.
func (t *Table) Metadata() map[string]string { return t.meta }

// Meta is a value that SetMeta kept, or "".
func (t *Table) Meta(key string) string { return t.meta[key] }

// AddFloats adds a column of numbers.
func (t *Table) AddFloats(name string, values []float64) {
	t.add(name, arrowio.NewDoubleArray(values))
}

// AddInts adds a column of whole numbers.
func (t *Table) AddInts(name string, values []int32) { t.add(name, arrowio.NewIntArray(values, nil)) }

// AddStrings adds a column of names.
func (t *Table) AddStrings(name string, values []string) {
	t.add(name, arrowio.NewStringArray(values))
}

// AddVectors adds a column of vectors of one length, one at least.
func (t *Table) AddVectors(name string, vectors [][]float64) {
	b := array.NewFixedSizeListBuilder(memory.DefaultAllocator, int32(len(vectors[0])), arrow.PrimitiveTypes.Float64)
	for _, v := range vectors {
		b.Append(true)
		b.ValueBuilder().(*array.Float64Builder).AppendValues(v, nil)
	}
	t.add(name, b.NewArray())
}

func (t *Table) add(name string, column arrow.Array) {
	t.fields = append(t.fields, arrow.Field{Name: name, Type: column.DataType()})
	t.columns = append(t.columns, column)
}

// Save writes the table to an Arrow file and returns its SHA-256.
func (t *Table) Save(path string) (sum string, err error) {
	if t.meta[checksumKey], err = t.checksum(); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	keys, values := make([]string, 0, len(t.meta)), make([]string, 0, len(t.meta))
	for _, key := range slices.Sorted(maps.Keys(t.meta)) {
		keys, values = append(keys, key), append(values, t.meta[key])
	}
	meta := arrow.NewMetadata(keys, values)
	schema := arrow.NewSchema(t.fields, &meta)
	rec := array.NewRecord(schema, t.columns, int64(t.rows))
	defer rec.Release()
	if err := arrowio.Save(path, rec); err != nil {
		return "", err
	}
	return sumOf(path)
}

// sumOf is the SHA-256 of a file.
func sumOf(path string) (string, error) {
	_, sum, err := Load(path, func(io.Reader, string) (struct{}, error) { return struct{}{}, nil })
	return sum, err
}

// LoadTable reads a state of the kind and its SHA-256. A table that is not as Save
// wrote it, or holds a number that is not finite, is an error.
func LoadTable(path, kind string) (*Table, string, error) {
	r, err := arrowio.Open(path, arrowio.ReadOptions{})
	if err != nil {
		return nil, "", err
	}
	t, err := tableOf(r, path, kind)
	if err != nil {
		return nil, "", err
	}
	sum, err := sumOf(path)
	return t, sum, err
}

// ReadTable is LoadTable of what r gives; name names it in errors.
func ReadTable(r io.Reader, name, kind string) (*Table, error) {
	in, err := arrowio.NewReader(r, name, arrowio.ReadOptions{})
	if err != nil {
		return nil, err
	}
	return tableOf(in, name, kind)
}

// tableOf reads a table and closes r.
func tableOf(r *arrowio.Reader, path, kind string) (*Table, error) {
	defer r.Close()
	t := &Table{name: path, meta: r.Schema().Metadata().ToMap(), fields: r.Schema().Fields()}
	if found := t.meta[kindKey]; found != kind {
		what := "no state of a stage"
		if found != "" {
			what = "the state of mars-" + found
		}
		return nil, fmt.Errorf("%s: this is %s: give the file that mars-%s --save wrote", path, what, kind)
	}
	batches := 0
	err := arrowio.Each(context.Background(), r, func(rec arrow.Record) error {
		if batches++; batches > 1 {
			return fmt.Errorf("%s: has more than one batch, which no stage writes", path)
		}
		t.rows = int(rec.NumRows())
		for _, c := range rec.Columns() {
			c.Retain()
			t.columns = append(t.columns, c)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := t.verify(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// Err is the first error of reading columns: a column that is missing or holds what it cannot
// hold is read as nil.
func (t *Table) Err() error { return t.err }

// fail keeps an error of a column: the rest of the sentence.
func (t *Table) fail(name, format string, args ...any) {
	if t.err == nil {
		t.err = fmt.Errorf("%s: column %q%s: save it again", t.name, name, fmt.Sprintf(format, args...))
	}
}

// column finds a column of a type, without nulls.
func column[A arrow.Array](t *Table, name string) (a A, ok bool) {
	for i, f := range t.fields {
		if f.Name != name || i >= len(t.columns) {
			continue
		}
		a, ok := t.columns[i].(A)
		if !ok || a.NullN() > 0 {
			t.fail(name, " is %s and was written by no stage of this version", f.Type)
			return a, false
		}
		return a, true
	}
	t.fail(name, " is missing")
	return a, false
}

// Has reports whether there is a column of that name.
func (t *Table) Has(name string) bool {
	for _, f := range t.fields {
		if f.Name == name {
			return true
		}
	}
	return false
}

// Floats is a column that AddFloats added.
func (t *Table) Floats(name string) []float64 {
	a, ok := column[*array.Float64](t, name)
	if !ok {
		return nil
	}
	return slices.Clone(a.Float64Values())
}

// Ints is a column that AddInts added.
func (t *Table) Ints(name string) []int32 {
	a, ok := column[*array.Int32](t, name)
	if !ok {
		return nil
	}
	return slices.Clone(a.Int32Values())
}

// Strings is a column that AddStrings added.
func (t *Table) Strings(name string) []string {
	a, ok := column[*array.String](t, name)
	if !ok {
		return nil
	}
	values := make([]string, a.Len())
	for i := range values {
		values[i] = strings.Clone(a.Value(i))
	}
	return values
}

// Vectors is a column that AddVectors added.
func (t *Table) Vectors(name string) [][]float64 {
	a, ok := column[*array.FixedSizeList](t, name)
	if !ok {
		return nil
	}
	values, ok := a.ListValues().(*array.Float64)
	if !ok || values.NullN() > 0 {
		t.fail(name, " holds %s, want float64", a.DataType())
		return nil
	}
	vectors := make([][]float64, a.Len())
	for i := range vectors {
		begin, end := a.ValueOffsets(i)
		vectors[i] = slices.Clone(values.Float64Values()[begin:end])
	}
	return vectors
}

// Components are the columns proportion and mean, and weight and covariance if there are.
func (t *Table) Components() (c mixture.Components, err error) {
	c.Proportions = t.Shares("proportion")
	means := t.Vectors("mean")
	if t.Has("covariance") {
		c.Weights, c.Covariances = t.Floats("weight"), t.Vectors("covariance")
	}
	switch {
	case t.err != nil:
		return c, t.err
	case len(means) == 0 || len(means[0]) == 0:
		return c, fmt.Errorf("%s: holds no component: save it again", t.name)
	}
	c.Means = mat.NewDense(len(means), len(means[0]), slices.Concat(means...))
	return c, nil
}
