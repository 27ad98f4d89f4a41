package label

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
)

// Flat is labels with a column for each class, probability_NAME, in place of the
// vectors: what CSV can hold, and what every reader of Parquet understands.
type Flat struct {
	arrowio.Stream
	flat   *arrow.Schema
	column string // of the vectors
	at     int
	before int // rows of the batches before
	rec    arrow.Record
}

// blockRows is how many rows are flattened at a time, so that they stay in a processor's cache.
const blockRows = 16

// NewFlat flattens labels of the classes that the metadata name. Their posteriors are
// in the column name.
func NewFlat(labels arrowio.Stream, name string) (*Flat, error) {
	schema := labels.Schema()
	meta, err := arrowio.ReadMeta(schema)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", labels.Name(), err)
	}
	at := schema.FieldIndices(name)
	switch {
	case len(at) == 0:
		return nil, fmt.Errorf("%s: there is no column %q: run mars label before", labels.Name(), name)
	case len(meta.Classes) == 0:
		return nil, fmt.Errorf("%s: its metadata do not name the classes: run mars-train or mars-predict before", labels.Name())
	}
	f := &Flat{Stream: labels, column: name, at: at[0]}
	var fields []arrow.Field
	for _, class := range meta.Classes {
		fields = append(fields, arrow.Field{Name: name + "_" + class, Type: arrow.PrimitiveTypes.Float32})
	}
	metadata := schema.Metadata()
	f.flat = arrow.NewSchema(slices.Replace(slices.Clone(schema.Fields()), f.at, f.at+1, fields...), &metadata)
	return f, nil
}

// Schema is that of the flat rows.
func (f *Flat) Schema() *arrow.Schema { return f.flat }

// Next gives the next labels, flat.
func (f *Flat) Next() (arrow.Record, error) {
	if f.rec != nil {
		f.rec.Release()
		f.rec = nil
	}
	rec, err := f.Stream.Next()
	if err != nil {
		return nil, err
	}
	vectors, err := arrowio.VectorColumn(rec, f.column)
	if err != nil {
		return nil, arrowio.Located(err, f.Stream, f.before)
	}
	f.before += vectors.Rows
	if classes := f.flat.NumFields() - f.Stream.Schema().NumFields() + 1; vectors.Width != classes {
		return nil, fmt.Errorf("%s: there are %d probabilities a row for %d classes: run mars-train or mars-predict before", f.Name(), vectors.Width, classes)
	}
	values := make([]float32, vectors.Rows*vectors.Width) // column by column
	for lo := 0; lo < vectors.Rows; lo += blockRows {
		hi := min(lo+blockRows, vectors.Rows)
		for k := range vectors.Width {
			for i := lo; i < hi; i++ {
				values[k*vectors.Rows+i] = vectors.Row(i)[k]
			}
		}
	}
	columns := make([]arrow.Array, vectors.Width)
	for k := range columns {
		columns[k] = arrowio.NewFloatArray(values[k*vectors.Rows:][:vectors.Rows])
	}
	f.rec = array.NewRecord(f.flat, slices.Replace(slices.Clone(rec.Columns()), f.at, f.at+1, columns...), rec.NumRows())
	return f.rec, nil
}
