package rows

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"gonum.org/v1/gonum/blas/blas32"

	"mars/arrowio"
	"mars/stages"
	"mars/stages/train/adapt"
)

// ModelInput is the column that a model of those vectors takes.
func ModelInput(env stages.Env, vectors string) string {
	if vectors == embedding {
		return env.Columns.Embedding
	}
	return env.Columns.Features
}

// VectorsOf is what a model that takes the column says of it (adapt.Model.Vectors).
func VectorsOf(env stages.Env, column string) string {
	if column == env.Columns.Embedding && column != env.Columns.Features {
		return embedding
	}
	return ""
}

// embedding is adapt.Model.Vectors of a model that takes embeddings.
const embedding = "embedding"

// Features reads the model input of a batch and checks its width.
func Features(rec arrow.Record, in arrowio.Source, env stages.Env, vectors string, width int) (blas32.General, error) {
	column := ModelInput(env, vectors)
	x, err := arrowio.VectorColumn(rec, column)
	if err != nil {
		return blas32.General{}, err
	}
	if x.Width != width && x.Rows > 0 {
		return blas32.General{}, &arrowio.Error{Input: in.Name(), Offset: -1, Batch: -1, Column: column,
			Err:    fmt.Errorf("rows have %d numbers, and the model takes %d", x.Width, width),
			Advice: "featurize these rows as those that the model was trained on"}
	}
	return blas32.General{Rows: x.Rows, Cols: width, Stride: width, Data: x.Data}, nil
}

// Predict passes all rows of in to out with the model's prediction,
// predicted_class and probability, which are those of its Decision.
func Predict(ctx context.Context, env stages.Env, in arrowio.Source, out arrowio.Sink, meta arrowio.Meta, model *Labeller) error {
	names, width := env.Columns, len(model.Classes)
	meta.Classes = model.Classes
	fields := []arrow.Field{
		{Name: names.Prediction, Type: arrow.PrimitiveTypes.Int32},
		{Name: names.PredictedClass, Type: arrow.BinaryTypes.String},
		{Name: names.Probability, Type: arrowio.VectorType(width)},
	}
	return Emit(ctx, env, in, out, meta, fields, func(rec arrow.Record) ([]arrow.Array, error) {
		x, err := Features(rec, in, env, model.Vectors, model.Width)
		if err != nil {
			return nil, err
		}
		p := model.Predict(x)
		if err := model.Decide(p); err != nil {
			return nil, err
		}
		predictions := adapt.Argmax(p)
		predicted := make([]string, len(predictions))
		for i, k := range predictions {
			predicted[i] = model.Classes[k]
		}
		return []arrow.Array{
			arrowio.NewIntArray(predictions, nil),
			arrowio.NewStringArray(predicted),
			arrowio.NewVectorArray(arrowio.Vectors{Data: p.Data, Rows: p.Rows, Width: width}),
		}, nil
	})
}
