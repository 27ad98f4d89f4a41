package rows

import (
	"context"

	"github.com/apache/arrow/go/v15/arrow"
	"gonum.org/v1/gonum/blas/blas32"

	"mars/arrowio"
	"mars/stages"
)

// Vectors is the column in which the estimators of features look for the classes:
// the features of tables, but the embedding of images, or where there are no
// features. An embedding that was learnt on the source folds up what tells moved
// classes apart, but in pixels classes do not move at all (docs/estimators.md).
func Vectors(in arrowio.Source, env stages.Env) string {
	c := env.Columns
	if !arrowio.HasColumn(in.Schema(), c.Embedding) {
		return c.Features
	}
	if arrowio.HasColumn(in.Schema(), c.Features) && !Images(in, env) {
		return c.Features
	}
	return c.Embedding
}

// Images reports whether the features are images: of three axes.
func Images(in arrowio.Source, env stages.Env) bool {
	for _, i := range in.Schema().FieldIndices(env.Columns.Features) {
		if text, ok := in.Schema().Field(i).Metadata.GetValue(ShapeKey); ok {
			shape, err := stages.ParseShape(text)
			return err == nil && len(shape) == 3
		}
	}
	return false
}

// TargetBlocks goes through the vectors of the target rows of in, a block a
// batch, in a pass of its own each time. A block is valid until the next.
func TargetBlocks(ctx context.Context, env stages.Env, in *arrowio.Spool, column string) func(yield func(blas32.General, error) bool) {
	return func(yield func(blas32.General, error) bool) {
		if err := in.Rewind(); err != nil {
			yield(blas32.General{}, err)
			return
		}
		stopped := false
		err := Each(ctx, in, func(rec arrow.Record) error {
			x, err := targetVectors(rec, env, column)
			if err != nil || stopped || x.Rows == 0 {
				return err
			}
			stopped = !yield(x, nil)
			return nil
		})
		if err != nil && !stopped {
			yield(blas32.General{}, err)
		}
	}
}

// targetVectors are the vectors of a batch's target rows, the column's own
// memory where the batch has no others.
func targetVectors(rec arrow.Record, env stages.Env, column string) (blas32.General, error) {
	domains, err := Domains(rec, env)
	if err != nil {
		return blas32.General{}, err
	}
	vectors, err := arrowio.VectorColumn(rec, column)
	if err != nil {
		return blas32.General{}, err
	}
	targets := 0
	for _, d := range domains {
		if d == arrowio.TargetDomain {
			targets++
		}
	}
	x := blas32.General{Cols: vectors.Width, Stride: max(1, vectors.Width)}
	if targets == len(domains) {
		x.Rows, x.Data = vectors.Rows, vectors.Data
		return x, nil
	}
	x.Data = make([]float32, 0, targets*vectors.Width)
	for i, d := range domains {
		if d == arrowio.TargetDomain {
			AppendRow(&x, vectors.Row(i))
		}
	}
	return x, nil
}
