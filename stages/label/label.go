// Package label is the stage that gives what a user wants of a labelled stream:
// for every target row its identity, its class, the posteriors and how sure that
// is, and nothing else.
//
// Columns read: id (row numbers where there is none), domain, predicted_class,
// probability and, if they are there, typicality and truth. Written: id,
// predicted_class, confidence, typicality, probability and truth; with levels of classes
// predicted_LEVEL and confidence_LEVEL of each, and predicted_level; Keep adds columns of the
// file that the rows are from.
package label

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/unmix"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/levels"
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
	// Confidence is what the posterior of the predicted class has to be, at the deepest level of classes
	// at which one has it; Unknown is the class of rows without. 0 means the finest class of each row.
	Confidence float64
	// Given is rows that a person has labelled, of the classes in the metadata: they keep these
	// labels. nil: there are none.
	Given *Sheet
}

// Labels is the target rows of a labelled stream.
type Labels struct {
	Options
	in      *stream.Rows
	classes []string // names; nil if they are not known
	columns []column
	schema  *arrow.Schema
	rec     arrow.Record
	seen    int64         // target rows
	before  int           // rows of the input before the batch
	given   map[int64]int // classes of target rows that a person has labelled
	doubted bool          // the method warns of its labels
	tree    *levels.Tree  // of the classes; nil if there is none
	values  *Values       // of the rows, for whoever looks at them; nil: nobody does

	posteriors arrowio.Vectors // of the target rows of the batch, valid until the next
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
	said := diagnostics.Read(known)
	l.classes, l.doubted = known.Classes, len(said.AllWarnings()) > 0 && said.Estimator != unmix.Method // whose rows have no one class
	if err := cmp.Or(l.giveLabels(), l.readLevels(known)); err != nil {
		return nil, err
	}
	if o.Unknown > 0 && slices.Contains(l.classes, Unknown) {
		return nil, fmt.Errorf("%s: a class of the source is called %q, as --unknown labels rows that are like none: name the class otherwise, or leave --unknown out", in.Name(), Unknown)
	}
	l.columns = l.listed()
	fields := make([]arrow.Field, len(l.columns))
	for k, column := range l.columns {
		fields[k] = column.field
	}
	meta := in.Schema().Metadata()
	l.schema = arrow.NewSchema(fields, &meta)
	return l, nil
}

// Doubtful reports whether the method warns of its labels, and no label of a person says more.
func (l *Labels) Doubtful() bool { return l.doubted && l.Given == nil }

// A column is one of the labels. values makes it of the target rows of a batch.
type column struct {
	field  arrow.Field
	values func(rec arrow.Record) (arrow.Array, error)
}

// listed are the columns of the labels, in their order, without those that the input lacks.
func (l *Labels) listed() (all []column) {
	c := l.in.Columns
	for _, column := range []column{
		{arrow.Field{Name: c.ID, Type: arrow.PrimitiveTypes.Int64}, l.rowNumbers},
		{arrow.Field{Name: c.PredictedClass}, l.predicted},
		{arrow.Field{Name: Confidence, Type: arrow.PrimitiveTypes.Float32}, l.confidence},
		{arrow.Field{Name: c.Typicality}, nil},
		{arrow.Field{Name: c.Probability}, nil},
		{arrow.Field{Name: c.Truth}, nil},
	} {
		name := column.field.Name
		if i := l.in.Schema().FieldIndices(name); len(i) > 0 && name != Confidence {
			column.field = l.in.Schema().Field(i[0])
			if name != c.PredictedClass {
				column.values = asIs(name)
			}
			if name == c.Truth && l.namesTruth(column.field) {
				column.field.Type, column.values = arrow.BinaryTypes.String, l.truth
			}
		}
		if column.values != nil {
			all = append(all, column)
		}
		if name == Confidence {
			for _, field := range l.levelFields() {
				all = append(all, later(field))
			}
		}
	}
	return all
}

// later is a column that settle fills.
func later(f arrow.Field) column {
	return column{f, func(rec arrow.Record) (arrow.Array, error) {
		return array.MakeArrayOfNull(memory.DefaultAllocator, f.Type, int(rec.NumRows())), nil
	}}
}

// at is the place of a column of the labels.
func (l *Labels) at(name string) int { return l.schema.FieldIndices(name)[0] }

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
		if l.rec, err = l.pick(rec); err != nil {
			return nil, arrowio.Located(err, l.in, l.before)
		}
		l.before += int(rec.NumRows())
		if l.rec != nil {
			return l.rec, nil
		}
	}
}

// inBatch gives an error of a row of the target its place in its batch, of which these parts are the target's.
func inBatch(err error, parts [][2]int64) error {
	if at, ok := err.(*arrowio.RowError); ok {
		left := at.Row
		for _, part := range parts {
			if n := int(part[1] - part[0]); left >= n {
				left -= n
				continue
			}
			at.Row = int(part[0]) + left
			break
		}
	}
	return err
}

// pick takes the target rows of a batch; nil if there are none.
func (l *Labels) pick(rec arrow.Record) (arrow.Record, error) {
	domains, err := l.in.Domains(rec)
	if err != nil {
		return nil, err
	}
	if err := l.values.add(rec, domains); err != nil {
		return nil, err
	}
	parts := runs(domains)
	targets, err := l.targets(rec, parts)
	if err != nil || targets == nil {
		return nil, err
	}
	defer targets.Release()
	if l.posteriors, err = arrowio.VectorColumn(targets, l.in.Columns.Probability); err != nil {
		return nil, inBatch(err, parts)
	}
	if width := l.posteriors.Width; (l.given != nil || l.tree != nil) && width != len(l.classes) {
		return nil, l.in.Fail(l.in.Columns.Probability, fmt.Errorf("has %d numbers a row, and there are %d classes", width, len(l.classes)), "run mars label anew")
	}
	n := targets.NumRows()
	arrays := make([]arrow.Array, len(l.columns))
	for k, column := range l.columns {
		if arrays[k], err = column.values(targets); err != nil {
			return nil, err
		}
		defer arrays[k].Release()
	}
	if err := cmp.Or(l.give(arrays, n), l.settle(arrays, n)); err != nil {
		return nil, err
	}
	l.seen += n
	return array.NewRecord(l.schema, arrays, n), nil
}

// targets are some parts of a batch, one after the other, with the columns that labels are made of; nil
// if there are none.
func (l *Labels) targets(rec arrow.Record, parts [][2]int64) (arrow.Record, error) {
	switch len(parts) {
	case 0:
		return nil, nil
	case 1:
		return rec.NewSlice(parts[0][0], parts[0][1]), nil
	}
	c := l.in.Columns
	var t arrowio.Table
	for k, f := range rec.Schema().Fields() {
		if !slices.Contains([]string{c.ID, c.PredictedClass, c.Typicality, c.Probability, c.Truth}, f.Name) {
			continue
		}
		pieces := make([]arrow.Array, len(parts))
		for i, part := range parts {
			pieces[i] = array.NewSlice(rec.Column(k), part[0], part[1])
			defer pieces[i].Release()
		}
		whole, err := array.Concatenate(pieces, memory.DefaultAllocator)
		if err != nil {
			return nil, fmt.Errorf("%s: column %q: %w", l.in.Name(), f.Name, err)
		}
		t.AddField(f, whole)
	}
	return t.Record(arrowio.Meta{}), nil
}

// asIs passes on a column of the input.
func asIs(name string) func(arrow.Record) (arrow.Array, error) {
	return func(rec arrow.Record) (arrow.Array, error) {
		column := columnOf(rec, name)
		column.Retain()
		return column, nil
	}
}

func columnOf(rec arrow.Record, name string) arrow.Array {
	return rec.Column(rec.Schema().FieldIndices(name)[0])
}

// rowNumbers are the identities of rows that have none.
func (l *Labels) rowNumbers(rec arrow.Record) (arrow.Array, error) {
	numbers := make([]int64, rec.NumRows())
	for i := range numbers {
		numbers[i] = l.seen + int64(i)
	}
	return arrowio.NewInt64Array(numbers), nil
}

// confidence is the greatest posterior of each row.
func (l *Labels) confidence(arrow.Record) (arrow.Array, error) {
	most := make([]float32, l.posteriors.Rows)
	for i := range most {
		most[i] = slices.Max(l.posteriors.Row(i))
	}
	return arrowio.NewFloatArray(most), nil
}

// namesTruth reports whether the classes of a column of truth can be named, as those that
// are predicted are.
func (l *Labels) namesTruth(f arrow.Field) bool {
	return l.classes != nil && f.Type.ID() == arrow.INT32
}

// truth is the name of each row's true class.
func (l *Labels) truth(rec arrow.Record) (arrow.Array, error) {
	numbers := columnOf(rec, l.in.Columns.Truth).(*array.Int32) // see namesTruth
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

// predicted is the name of each row's predicted class, Unknown for rows that are like none.
func (l *Labels) predicted(rec arrow.Record) (arrow.Array, error) {
	if l.Unknown == 0 {
		return asIs(l.in.Columns.PredictedClass)(rec)
	}
	names, ok := columnOf(rec, l.in.Columns.PredictedClass).(*array.String)
	typicality, numbers := columnOf(rec, l.in.Columns.Typicality).(*array.Float32)
	if !ok || !numbers {
		return nil, l.in.Fail("", errors.New("predicted classes are not text, or typicality is not float32"), "run mars label anew")
	}
	known, missing := make([]string, names.Len()), map[int]bool{}
	for i := range known {
		if names.IsNull(i) { // the row has no value
			missing[i] = true
		} else if known[i] = names.Value(i); float64(typicality.Value(i)) < l.Unknown {
			known[i] = Unknown
		}
	}
	return arrowio.NewStringsWithout(known, missing), nil
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
