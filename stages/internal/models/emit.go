package models

import (
	"context"
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/internal/levels"
	"mars.dev/mars/stages/internal/prepared"
	"mars.dev/mars/stages/internal/stream"
)

// Input is the column that a model of those vectors takes (see
// adapt.Model.Vectors).
func Input(env stages.Env, vectors string) string {
	if vectors == embedding {
		return env.Columns.Embedding
	}
	return env.Columns.Features
}

// VectorsOf is what a model that takes the column says of it
// (adapt.Model.Vectors).
func VectorsOf(env stages.Env, column string) string {
	if column == env.Columns.Embedding && column != env.Columns.Features {
		return embedding
	}
	return ""
}

// Preparation is what the stream says of how its features were prepared; "" if it says
// nothing.
func Preparation(r *stream.Rows) string { return prepared.OfColumn(r.Schema(), r.Columns.Features) }

// Note notes for a model of the column what it takes and labels.
func Note(u *adapt.Use, r *stream.Rows, column string) {
	u.Vectors, u.Preparation = VectorsOf(r.Env, column), Preparation(r)
	u.Levels, _ = r.Schema().Metadata().GetValue(arrowio.LevelsKey)
}

// CheckPreparation refuses rows that were prepared otherwise than a model's.
func CheckPreparation(r *stream.Rows, model string) error {
	if err := prepared.CheckAlike(model, Preparation(r)); err != nil {
		return r.Fail(r.Columns.Features, err, "give the file itself to mars predict, which prepares it as the model's rows were, or mars-featurize --load what the first run saved")
	}
	return nil
}

// embedding is adapt.Model.Vectors of a model that takes embeddings.
const embedding = "embedding"

// Features reads the model input of a batch and checks its width. Rows without any value are NaN.
func Features(r *stream.Rows, rec arrow.Record, vectors string, width int) (blas32.General, error) {
	column := Input(r.Env, vectors)
	x, err := arrowio.VectorColumnWithGaps(rec, column)
	if err != nil {
		return blas32.General{}, err
	}
	if x.Width != width && x.Rows > 0 {
		return blas32.General{}, r.Fail(column, fmt.Errorf("rows have %d numbers, and the model takes %d", x.Width, width),
			"featurize these rows as those that the model was trained on")
	}
	return blas32.General{Rows: x.Rows, Cols: width, Stride: width, Data: x.Data}, nil
}

// labelled is what a model says of the rows of a batch.
type labelled struct {
	rows, posteriors blas32.General
	predictions      []int32
	judged           blas32.General // posteriors whose greatest is of the prediction
	missing          map[int]bool   // rows without any value
	levels           []arrow.Array  // of tree.Fields; nil without one
}

// decide predicts the classes that the levels of a tree agree on. Where that is not the class of the
// greatest posterior, the row is judged as if it were.
func (o *labelled) decide(tree *levels.Tree) {
	p := blas32.General{Rows: o.posteriors.Rows, Cols: o.posteriors.Cols, Stride: o.posteriors.Stride, Data: slices.Clone(o.posteriors.Data)}
	o.judged = p
	for i, greatest := range o.predictions {
		row := p.Data[i*p.Stride : i*p.Stride+p.Cols]
		classes, _ := tree.Decide(row)
		if k := classes[len(classes)-1]; k != int(greatest) {
			o.predictions[i] = int32(k)
			clear(row)
			row[k] = 1
		}
	}
}

// An output is a column that a model adds to the rows.
type output struct {
	field  arrow.Field
	values func(context.Context, labelled) (arrow.Array, error)
}

// outputs are the columns that the model adds, in their order.
func (l *Labeller) outputs(names arrowio.Columns) []output {
	all := []output{
		{arrow.Field{Name: names.Prediction, Type: arrow.PrimitiveTypes.Int32}, func(_ context.Context, o labelled) (arrow.Array, error) {
			return arrowio.NewIntArray(o.predictions, nil), nil
		}},
		{arrow.Field{Name: names.PredictedClass, Type: arrow.BinaryTypes.String, Nullable: true}, func(_ context.Context, o labelled) (arrow.Array, error) {
			predicted := make([]string, len(o.predictions))
			for i, k := range o.predictions {
				predicted[i] = l.Classes[k]
			}
			return arrowio.NewStringsWithout(predicted, o.missing), nil
		}},
		{arrow.Field{Name: names.Probability, Type: arrowio.VectorType(len(l.Classes))}, func(_ context.Context, o labelled) (arrow.Array, error) {
			p := o.posteriors
			return arrowio.NewVectorArray(arrowio.Vectors{Data: p.Data, Rows: p.Rows, Width: p.Cols}), nil
		}},
	}
	if l.Typicality == nil {
		return all
	}
	return append(all, output{arrow.Field{Name: names.Typicality, Type: arrow.PrimitiveTypes.Float32, Nullable: true}, func(ctx context.Context, o labelled) (arrow.Array, error) {
		typicality, err := l.Typicality(ctx, o.rows, o.judged)
		return arrowio.NewFloatsWithout(typicality, o.missing), err
	}})
}

// Emit passes all rows on to out with the model's outputs: prediction, predicted_class and
// probability, which are those of its Decision, and typicality if it has one. A row without
// any value gets the shares of the classes as posteriors, and no predicted_class and no typicality.
func (l *Labeller) Emit(ctx context.Context, r *stream.Rows, out arrowio.Sink, meta arrowio.Meta) error {
	meta.Classes = l.Classes
	tree, err := levels.Parse(l.Levels, l.Classes)
	if err != nil {
		return r.Fail("", err, "")
	}
	meta.Levels = tree.Text()
	outputs := l.outputs(r.Columns)
	for j, field := range tree.Fields() {
		outputs = append(outputs, output{field, func(_ context.Context, o labelled) (arrow.Array, error) { return o.levels[j], nil }})
	}
	fields := make([]arrow.Field, len(outputs))
	for k, o := range outputs {
		fields[k] = o.field
	}
	return r.Emit(ctx, out, meta, stream.Added{Fields: fields, Of: func(rec arrow.Record) ([]arrow.Array, error) {
		x, err := Features(r, rec, l.Vectors, l.Width)
		if err != nil {
			return nil, err
		}
		missing := TakeMissing(&x)
		x, p, err := l.Label(ctx, x)
		if err != nil {
			return nil, err
		}
		for i := range missing {
			copy(p.Data[i*p.Stride:], l.shares())
		}
		rows := labelled{x, p, adapt.Argmax(p), p, missing, nil}
		if tree != nil {
			rows.decide(tree)
			rows.levels = tree.Columns(arrowio.Vectors{Data: p.Data, Rows: p.Rows, Width: p.Cols}, missing, nil, "")
		}
		columns := make([]arrow.Array, len(outputs))
		for k, o := range outputs {
			if columns[k], err = o.values(ctx, rows); err != nil {
				return nil, err
			}
		}
		return columns, nil
	}})
}

// TakeMissing returns the rows without any value, and puts 0 in their place, which a model can
// take; nil if there are none.
func TakeMissing(x *blas32.General) map[int]bool {
	v := arrowio.Vectors{Data: x.Data, Rows: x.Rows, Width: x.Cols}
	var missing map[int]bool
	for i := range v.Rows {
		if !v.Missing(i) {
			continue
		}
		if missing == nil {
			missing, v.Data = map[int]bool{}, slices.Clone(v.Data)
			x.Data = v.Data
		}
		missing[i] = true
		clear(v.Row(i))
	}
	return missing
}

// shares are what is known of the class of a row without any value: the target's shares.
func (l *Labeller) shares() []float32 {
	of := l.Shares
	if of == nil {
		of = l.Prior
	}
	p := slices.Repeat([]float32{1 / float32(len(l.Classes))}, len(l.Classes))
	for k, share := range of {
		p[k] = float32(share)
	}
	return p
}
