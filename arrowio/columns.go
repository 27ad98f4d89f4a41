package arrowio

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// Columns are the names of the columns that stages read and add. Any other column
// is the user's and passes through untouched.
type Columns struct {
	ID             string // row identity, unique within a domain
	Domain         string // "source" or "target"
	Label          string // class index of a source row, null on target rows
	Truth          string // true class of a target row, read by evaluation alone
	Features       string // model input, d numbers a row
	Embedding      string // z = g(x), h numbers a row
	Component      string // mixture component of a target row
	Matched        string // class its component was matched with
	Weight         string // p_T(y)/p_S(y) on source rows, 1 on target rows
	Prediction     string // argmax class
	PredictedClass string // its name
	Probability    string // class posteriors, C numbers a row
	Typicality     string // p-value of the row among its class' rows, 0 to 1
	Batch          string // which labelled batch a source row is of: a patient, a day, a laboratory; null on target rows
	Unseen         string // whether a source row is kept from training, so that a classifier's mistakes can be counted on it
}

// DefaultColumns are the names that hold unless flags change them.
func DefaultColumns() Columns {
	return Columns{
		ID: "id", Domain: "domain", Label: "label", Truth: "truth",
		Features: "features", Embedding: "embedding",
		Component: "component", Matched: "matched", Weight: "weight",
		Prediction: "prediction", PredictedClass: "predicted_class", Probability: "probability", Typicality: "typicality",
		Batch: "batch", Unseen: "unseen",
	}
}

// HasColumn reports whether schema has a column of that name.
func HasColumn(schema *arrow.Schema, name string) bool {
	return schema.HasField(name)
}

// WithColumns returns schema with the fields added: one that has the name of a
// column already there takes its place, the others follow at the end in order.
// Metadata is kept.
func WithColumns(schema *arrow.Schema, fields ...arrow.Field) *arrow.Schema {
	out := append([]arrow.Field(nil), schema.Fields()...)
	for _, f := range fields {
		if i := fieldIndex(out, f.Name); i >= 0 {
			out[i] = f
		} else {
			out = append(out, f)
		}
	}
	meta := schema.Metadata()
	return arrow.NewSchema(out, &meta)
}

// A Column is a column to add to a record batch, or to put in the place of one.
type Column struct {
	Name  string
	Array arrow.Array
}

// AppendColumns returns rec with cols in it, each where schema has its name. The
// schema is what WithColumns made of that of rec. All other columns are rec's own,
// untouched. The caller releases the result, and keeps rec and cols.
func AppendColumns(rec arrow.Record, schema *arrow.Schema, cols ...Column) (arrow.Record, error) {
	out := make([]arrow.Array, schema.NumFields())
	copy(out, rec.Columns())
	for _, c := range cols {
		i := fieldIndex(schema.Fields(), c.Name)
		if i < 0 {
			return nil, fmt.Errorf("arrowio: column %q is not in the schema: make the schema with WithColumns", c.Name)
		}
		out[i] = c.Array
	}
	for i, f := range schema.Fields() {
		if err := checkColumn(f, out[i], rec.NumRows()); err != nil {
			return nil, err
		}
	}
	return array.NewRecord(schema, out, rec.NumRows()), nil
}

func checkColumn(f arrow.Field, col arrow.Array, rows int64) error {
	switch {
	case col == nil:
		return fmt.Errorf("arrowio: column %q of the schema is not given", f.Name)
	case int64(col.Len()) != rows:
		return fmt.Errorf("arrowio: column %q has %d rows, the batch has %d", f.Name, col.Len(), rows)
	case !arrow.TypeEqual(f.Type, col.DataType()):
		return fmt.Errorf("arrowio: column %q is %s, the schema says %s", f.Name, col.DataType(), f.Type)
	}
	return nil
}

func fieldIndex(fields []arrow.Field, name string) int {
	for i, f := range fields {
		if f.Name == name {
			return i
		}
	}
	return -1
}
