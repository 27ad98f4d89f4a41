package labelled

import (
	"context"

	"github.com/apache/arrow/go/v15/arrow"
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/internal/stream"
)

// Evidence is what views of a target say of all of its rows, and of the labelled ones.
type Evidence struct {
	Views []View
	Rows  int // of the target
}

// A View is what a model says under one assumption.
type View struct {
	Name     string
	Weight   float64        // without labels
	Mean     []float64      // posterior, over all target rows
	Labelled blas32.General // n×C: posteriors of the labelled rows
}

// OfModel asks the views of a model, in a pass over all rows of a stream, which is then at its
// end. Views whose classifiers were not kept are left out.
func (rows *Rows) OfModel(ctx context.Context, r *stream.Rows, m *hedge.Model, column string) (*Evidence, error) {
	e := &Evidence{}
	labelled, err := m.Posteriors(ctx, m.Prepare(rows.Vectors))
	if err != nil {
		return nil, err
	}
	sums := make([][]float64, len(labelled))
	for i := range sums {
		sums[i] = make([]float64, len(m.Classes))
	}
	err = r.Each(ctx, func(rec arrow.Record) error {
		x, err := r.TargetVectors(rec, column)
		if err != nil || x.Rows == 0 {
			return err
		}
		e.Rows += x.Rows
		all, err := m.Posteriors(ctx, m.Prepare(x))
		if err != nil {
			return err
		}
		for i, p := range all {
			for j, v := range p.Data {
				sums[i][j%p.Cols] += float64(v)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, v := range m.Views {
		if labelled[i].Data == nil {
			continue
		}
		for k := range sums[i] {
			sums[i][k] /= float64(e.Rows)
		}
		e.Views = append(e.Views, View{v.Name, v.Weight, sums[i], labelled[i]})
	}
	return e, nil
}
