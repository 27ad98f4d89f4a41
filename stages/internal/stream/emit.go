package stream

import (
	"context"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
)

// Added are the columns that a stage lays over those of a stream.
type Added struct {
	Fields []arrow.Field
	// Of computes the columns of a batch, one for each of Fields and in that order.
	Of func(arrow.Record) ([]arrow.Array, error)
}

// Emit passes every row on to out with the columns added. Meta, with the stage's
// step added to its provenance, becomes the project's metadata.
func (r *Rows) Emit(ctx context.Context, out arrowio.Sink, meta arrowio.Meta, added Added) error {
	added = r.markHeldOut(added, meta.Classes)
	meta.Provenance = arrowio.WithStep(meta.Provenance, r.Step)
	schema := meta.Apply(arrowio.WithColumns(r.Schema(), added.Fields...))
	if err := out.Begin(schema); err != nil {
		return err
	}
	done := int64(0)
	return r.Each(ctx, func(rec arrow.Record) error {
		arrays, err := added.Of(rec)
		if err != nil {
			return err
		}
		over := make([]arrowio.Column, len(added.Fields))
		for i, a := range arrays {
			defer a.Release()
			over[i] = arrowio.Column{Name: added.Fields[i].Name, Array: a}
		}
		wide, err := arrowio.AppendColumns(rec, schema, over...)
		if err != nil {
			return err
		}
		defer wide.Release()
		done += rec.NumRows()
		r.Report("rows", done, 0)
		return out.Write(wide)
	})
}
