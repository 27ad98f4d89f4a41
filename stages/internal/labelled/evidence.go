package labelled

import (
	"context"

	"github.com/apache/arrow/go/v15/arrow"
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/algorithms/ppi"
	"mars.dev/mars/stages/internal/stream"
)

// Evidence is what a model says of all rows of a target, and of the labelled ones: C classes, that
// are the source's.
type Evidence struct {
	Views []View
	Rows  int // of the target
	// Guessed is how many rows of the target have each class as the model's guess, and Sure the
	// sum of their confidence, without the labels.
	Guessed []int
	Sure    []float64
	classes int        // of the labels
	field   *ppi.Field // of rows in which the model may err alike; nil if their vectors are not known
}

// A View is what a model says under one assumption.
type View struct {
	Name     string
	Weight   float64     // without labels
	Mean     []float64   // posterior, over all target rows
	Labelled [][]float64 // n×C: posteriors of the labelled rows
}

// Views are what the views of a model say of the labelled rows, without means. Those whose
// classifiers were not kept are left out; kept are the indices of the others among the model's.
func (rows *Rows) Views(ctx context.Context, m *hedge.Model) (views []View, kept []int, err error) {
	all, err := m.Posteriors(ctx, m.Prepare(rows.Vectors))
	if err != nil {
		return nil, nil, err
	}
	for i, v := range m.Views {
		if all[i].Data != nil {
			kept = append(kept, i)
			views = append(views, View{Name: v.Name, Weight: v.Weight, Mean: make([]float64, len(m.Classes)), Labelled: rowsOf(all[i])})
		}
	}
	return views, kept, nil
}

// OfModel asks the views of a model, in a pass over all rows of a stream, which is then at its
// end.
func (rows *Rows) OfModel(ctx context.Context, r *stream.Rows, m *hedge.Model, column string) (*Evidence, error) {
	views, kept, err := rows.Views(ctx, m)
	if err != nil {
		return nil, err
	}
	e := &Evidence{Views: views}
	e.begin(rowsOf(m.Prepare(rows.Vectors)), len(rows.Classes), len(m.Classes))
	err = r.Each(ctx, func(rec arrow.Record) error {
		x, err := r.TargetVectors(rec, column)
		if err != nil || x.Rows == 0 {
			return err
		}
		z := m.Prepare(x)
		all, err := m.Posteriors(ctx, z)
		if err != nil {
			return err
		}
		for to, from := range kept {
			all[to] = all[from]
		}
		e.add(all[:len(kept)], z)
		return nil
	})
	e.end()
	return e, err
}

// OfPosteriors is the evidence of posteriors of all target rows that have a value, in order, by one
// model. Rows are near each other that it says the like of.
func (rows *Rows) OfPosteriors(name string, p blas32.General) *Evidence {
	v := View{Name: name, Weight: 1, Mean: make([]float64, p.Cols)}
	all := rowsOf(p)
	for _, i := range rows.Known {
		v.Labelled = append(v.Labelled, all[i])
	}
	e := &Evidence{Views: []View{v}}
	e.begin(v.Labelled, len(rows.Classes), p.Cols)
	e.add([]blas32.General{p}, p)
	e.end()
	return e
}

// begin makes room for what is counted, and makes the weights of the views that are there add up to
// 1. Labelled are vectors of the labelled rows, of so many classes, of which the views know the first.
func (e *Evidence) begin(labelled [][]float64, classes, known int) {
	e.classes, e.Guessed, e.Sure = classes, make([]int, known), make([]float64, known)
	sum := 0.0
	for _, v := range e.Views {
		sum += v.Weight
	}
	for i := range e.Views {
		e.Views[i].Weight /= sum
	}
	var doubts []float64
	for _, p := range e.Posteriors(e.Weights()) {
		doubts = append(doubts, ppi.ErrorDoubt(p, classes))
	}
	e.field = ppi.NewField(labelled, doubts)
}

// add adds rows by their posteriors under each view and their vectors.
func (e *Evidence) add(all []blas32.General, z blas32.General) {
	mixed, vectors := make([]float64, len(e.Guessed)), rowsOf(z)
	for i := range all[0].Rows {
		clear(mixed)
		for v, p := range all {
			for k, q := range p.Data[i*p.Stride : i*p.Stride+p.Cols] {
				e.Views[v].Mean[k] += float64(q)
				mixed[k] += e.Views[v].Weight * float64(q)
			}
		}
		guess := argmax(mixed)
		e.Guessed[guess]++
		e.Sure[guess] += mixed[guess]
		e.field.Show(vectors[i], ppi.ErrorDoubt(mixed, e.classes))
	}
	e.Rows += all[0].Rows
}

// end makes means of sums.
func (e *Evidence) end() {
	for _, v := range e.Views {
		for k := range v.Mean {
			v.Mean[k] /= float64(e.Rows)
		}
	}
}

// argmax is the first index of the greatest value.
func argmax(x []float64) (at int) {
	for i, v := range x {
		if v > x[at] {
			at = i
		}
	}
	return at
}

// rowsOf are the rows of a matrix.
func rowsOf(x blas32.General) [][]float64 {
	all := make([][]float64, x.Rows)
	for i := range all {
		for _, v := range x.Data[i*x.Stride : i*x.Stride+x.Cols] {
			all[i] = append(all[i], float64(v))
		}
	}
	return all
}

// Weights are those of the views, without the labels.
func (e *Evidence) Weights() (weights []float64) {
	for _, v := range e.Views {
		weights = append(weights, v.Weight)
	}
	return weights
}

// Widened gives posteriors a column of 0 for each class that they lack.
func Widened(p [][]float64, classes int) [][]float64 {
	wide := make([][]float64, len(p))
	for i, row := range p {
		wide[i] = make([]float64, classes)
		copy(wide[i], row)
	}
	return wide
}

// Posteriors are those of the labelled rows: the mean of the views, weighted.
func (e *Evidence) Posteriors(weights []float64) [][]float64 {
	mixed := Widened(make([][]float64, len(e.Views[0].Labelled)), len(e.Guessed))
	for v, w := range weights {
		for i, p := range e.Views[v].Labelled {
			for k, q := range p {
				mixed[i][k] += w * q
			}
		}
	}
	return mixed
}
