package stream

import (
	"context"

	"github.com/apache/arrow/go/v15/arrow"
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
)

// Vectors is the column in which the estimators of features look for the classes:
// the features of tables, but the embedding of images, or where there are no
// features. An embedding that was learnt on the source folds up what tells moved
// classes apart, but in pixels classes do not move at all (docs/measured/estimators.md).
func (r *Rows) Vectors() string {
	c := r.Columns
	if !r.Has(c.Embedding) || r.Has(c.Features) && !r.Images() {
		return c.Features
	}
	return c.Embedding
}

// Images reports whether the features are images: of three axes.
func (r *Rows) Images() bool {
	if r.Env.Shape != nil {
		return len(r.Env.Shape) == 3
	}
	for _, i := range r.Schema().FieldIndices(r.Columns.Features) {
		if text, ok := r.Schema().Field(i).Metadata.GetValue(arrowio.ShapeKey); ok {
			shape, err := stages.ParseShape(text)
			return err == nil && len(shape) == 3
		}
	}
	return false
}

// TargetBlocks goes through the vectors of the target rows, a block a batch, in a
// pass of its own each time. A block is valid until the next.
func (r *Rows) TargetBlocks(ctx context.Context, column string) func(yield func(blas32.General, error) bool) {
	return func(yield func(blas32.General, error) bool) {
		if err := r.Rewind(); err != nil {
			yield(blas32.General{}, err)
			return
		}
		stopped := false
		err := r.Each(ctx, func(rec arrow.Record) error {
			x, err := r.TargetVectors(rec, column)
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

// TargetVectors are the vectors of a batch's target rows that have values, the column's own
// memory where the batch has no others.
func (r *Rows) TargetVectors(rec arrow.Record, column string) (blas32.General, error) {
	domains, err := r.Domains(rec)
	if err != nil {
		return blas32.General{}, err
	}
	vectors, err := arrowio.VectorColumnWithGaps(rec, column)
	if err != nil {
		return blas32.General{}, err
	}
	targets := 0
	for i, d := range domains {
		if d == arrowio.TargetDomain && !vectors.Missing(i) {
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
		if d == arrowio.TargetDomain && !vectors.Missing(i) {
			AppendRow(&x, vectors.Row(i))
		}
	}
	return x, nil
}
