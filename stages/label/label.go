// Package label is the stage that gives what a user wants of a labelled stream:
// for every target row its identity, its class, the posteriors and how sure that
// is, and nothing else.
//
// Columns read: id (row numbers where there is none), domain, predicted_class,
// probability and, if they are there, typicality and truth. Written: id,
// predicted_class, confidence, typicality, probability and truth; Keep adds columns of the
// file that the rows are from.
package label

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/stream"
)

// Confidence is the column of the posterior of the predicted class.
const Confidence = "confidence"

// Unknown is the predicted class of rows that are like none of the source.
const Unknown = "unknown"

// Options of labels. The zero value is usable.
type Options struct {
	// Unknown is the typicality below which a row's class is Unknown: the share of
	// rows of known classes that get it too. 0 means none.
	Unknown float64
	// Given is rows that a person has labelled, of the classes in the metadata: they keep these
	// labels. nil: there are none.
	Given *Sheet
}

// Labels is the target rows of a labelled stream.
type Labels struct {
	Options
	in      *stream.Rows
	classes []string // names; nil if they are not known
	schema  *arrow.Schema
	kept    []string // columns that are passed on as they are
	rec     arrow.Record
	seen    int64         // target rows
	given   map[int64]int // classes of target rows that a person has labelled
	doubted bool          // the method warns of its labels
}

// New returns the labels of in.
func New(env stages.Env, in arrowio.Stream, o Options) (*Labels, error) {
	r, c := &stream.Rows{Env: env, Stream: in}, env.Columns
	if err := r.Require("run mars-train or mars-predict before", c.PredictedClass, c.Probability); err != nil {
		return nil, err
	}
	if o.Unknown > 0 {
		if err := r.Require("only the method hedge can tell rows unlike the source: choose it, or leave --unknown out", c.Typicality); err != nil {
			return nil, err
		}
	}
	l := &Labels{Options: o, in: r}
	known, err := r.Meta()
	if err != nil {
		return nil, err
	}
	l.classes, l.doubted = known.Classes, len(diagnostics.Read(known).AllWarnings()) > 0
	if err := l.giveLabels(); err != nil {
		return nil, err
	}
	if o.Unknown > 0 && slices.Contains(l.classes, Unknown) {
		return nil, fmt.Errorf("%s: a class of the source is called %q, as --unknown labels rows that are like none: name the class otherwise, or leave --unknown out", in.Name(), Unknown)
	}
	fields := []arrow.Field{{Name: c.ID, Type: arrow.PrimitiveTypes.Int64}}
	for _, name := range []string{c.ID, c.PredictedClass, c.Typicality, c.Probability, c.Truth} {
		for _, i := range in.Schema().FieldIndices(name) {
			l.kept = append(l.kept, name)
			field := in.Schema().Field(i)
			if name == c.Truth && l.namesTruth(field) {
				field.Type = arrow.BinaryTypes.String
			}
			fields = append(fields, field)
		}
	}
	if slices.Contains(l.kept, c.ID) {
		fields = fields[1:]
	}
	fields = slices.Insert(fields, 2, arrow.Field{Name: Confidence, Type: arrow.PrimitiveTypes.Float32})
	meta := in.Schema().Metadata()
	l.schema = arrow.NewSchema(fields, &meta)
	return l, nil
}

// Doubtful reports whether the method warns of its labels, and no label of a person says more.
func (l *Labels) Doubtful() bool { return l.doubted && l.Given == nil }

// Name is the input's.
func (l *Labels) Name() string { return l.in.Name() }

// Schema is that of the labels, with the input's metadata.
func (l *Labels) Schema() *arrow.Schema { return l.schema }

// Next gives the target rows of the next batch that has any.
func (l *Labels) Next() (arrow.Record, error) {
	if l.rec != nil {
		l.rec.Release()
		l.rec = nil
	}
	for {
		rec, err := l.in.Next()
		if err != nil {
			if errors.Is(err, io.EOF) && l.seen == 0 {
				return nil, l.in.EmptyDomain(arrowio.TargetDomain)
			}
			return nil, err
		}
		if l.rec, err = l.pick(rec); err != nil || l.rec != nil {
			return l.rec, err
		}
	}
}

// pick takes the target rows of a batch; nil if there are none.
func (l *Labels) pick(rec arrow.Record) (arrow.Record, error) {
	domains, err := l.in.Domains(rec)
	if err != nil {
		return nil, err
	}
	parts := runs(domains)
	if len(parts) == 0 {
		return nil, nil
	}
	var columns []arrow.Array
	for _, name := range l.kept {
		column, err := take(rec.Column(rec.Schema().FieldIndices(name)[0]), parts)
		if err != nil {
			return nil, fmt.Errorf("%s: column %q: %w", l.in.Name(), name, err)
		}
		if numbers, ok := column.(*array.Int32); ok && name == l.in.Columns.Truth && l.classes != nil {
			column, err = l.truthNames(numbers)
			numbers.Release()
			if err != nil {
				return nil, err
			}
		}
		defer column.Release()
		columns = append(columns, column)
	}
	n := int64(0)
	for _, part := range parts {
		n += part[1] - part[0]
	}
	if !slices.Contains(l.kept, l.in.Columns.ID) {
		numbers := make([]int64, n)
		for i := range numbers {
			numbers[i] = l.seen + int64(i)
		}
		columns = slices.Insert(columns, 0, arrowio.NewInt64Array(numbers))
	}
	if l.Unknown > 0 {
		if err := l.markUnknown(columns); err != nil {
			return nil, err
		}
	}
	confidence, err := greatest(rec, l.in.Columns.Probability, parts)
	if err != nil {
		return nil, err
	}
	columns = slices.Insert(columns, 2, confidence)
	if err := l.give(columns, n); err != nil {
		return nil, err
	}
	l.seen += n
	return array.NewRecord(l.schema, columns, n), nil
}

// namesTruth reports whether the classes of a column of truth can be named, as those that
// are predicted are.
func (l *Labels) namesTruth(f arrow.Field) bool {
	return l.classes != nil && f.Type.ID() == arrow.INT32
}

// truthNames returns the names of the true classes.
func (l *Labels) truthNames(numbers *array.Int32) (arrow.Array, error) {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	for i := range numbers.Len() {
		switch k := numbers.Value(i); {
		case numbers.IsNull(i):
			b.AppendNull()
		case k < 0 || int(k) >= len(l.classes):
			return nil, l.in.Fail(l.in.Columns.Truth, fmt.Errorf("class %d is not one of %d", k, len(l.classes)), "featurize the rows again")
		default:
			b.Append(l.classes[k])
		}
	}
	return b.NewArray(), nil
}

// markUnknown replaces the predicted classes among the columns.
func (l *Labels) markUnknown(columns []arrow.Array) error {
	at := func(name string) int { return l.schema.FieldIndices(name)[0] }
	classes := at(l.in.Columns.PredictedClass)
	names, ok := columns[classes].(*array.String)
	typicality, numbers := columns[at(l.in.Columns.Typicality)-1].(*array.Float32) // before confidence is there
	if !ok || !numbers {
		return l.in.Fail("", errors.New("predicted classes are not text, or typicality is not float32"), "run mars label anew")
	}
	known := make([]string, names.Len())
	for i := range known {
		if known[i] = names.Value(i); float64(typicality.Value(i)) < l.Unknown {
			known[i] = Unknown
		}
	}
	columns[classes] = arrowio.NewStringArray(known)
	return nil
}

// runs are the bounds [from, to) of the parts of a batch that are target rows.
func runs(domains []arrowio.Domain) [][2]int64 {
	var parts [][2]int64
	for i, d := range domains {
		switch last := len(parts) - 1; {
		case d != arrowio.TargetDomain:
		case last >= 0 && parts[last][1] == int64(i):
			parts[last][1]++
		default:
			parts = append(parts, [2]int64{int64(i), int64(i) + 1})
		}
	}
	return parts
}

// take returns the parts of a column, one after the other.
func take(column arrow.Array, parts [][2]int64) (arrow.Array, error) {
	slices := make([]arrow.Array, len(parts))
	for i, part := range parts {
		slices[i] = array.NewSlice(column, part[0], part[1])
		defer slices[i].Release()
	}
	if len(slices) == 1 {
		slices[0].Retain()
		return slices[0], nil
	}
	return array.Concatenate(slices, memory.DefaultAllocator)
}

// greatest is the greatest value of each vector of the parts.
func greatest(rec arrow.Record, column string, parts [][2]int64) (arrow.Array, error) {
	vectors, err := arrowio.VectorColumn(rec, column)
	if err != nil {
		return nil, err
	}
	var most []float32
	for _, part := range parts {
		for i := part[0]; i < part[1]; i++ {
			most = append(most, slices.Max(vectors.Row(int(i))))
		}
	}
	return arrowio.NewFloatArray(most), nil
}
