// Package ask is the stage that chooses which target rows a person is to label: a few, at known
// probabilities, so that the labels say what the class proportions are, whatever has changed,
// and how many of the model's labels are right.
//
// Columns read: id (row numbers where there is none), domain, predicted_class, probability. It
// adds no column: its answer is a Sheet, a table of the rows that were drawn.
package ask

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/ppi"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/labelled"
	"mars.dev/mars/stages/internal/sheet"
	"mars.dev/mars/stages/internal/stream"
)

// Labels are rows of a target that a person has labelled.
type Labels = labelled.Options

// ReadLabels reads a filled sheet, in which a column has labels. Fresh are labels that are classes
// which the source lacks, though they are spelt like one of its own.
func ReadLabels(ctx context.Context, path, column string, fresh []string) (Labels, error) {
	s, err := sheet.Read(ctx, path, column)
	return Labels{Sheet: s, New: fresh}, err
}

// Options of drawing.
type Options struct {
	Budget  int    // rows to draw
	Until   *Until // says the budget instead; nil: Budget does
	For     string // the class whose share matters; "": all do
	Uniform bool   // draw all rows uniformly
	Label   string // name of the column to fill in
}

// Draw reads the rows of a labelled stream, and draws of the target's.
func Draw(ctx context.Context, env stages.Env, in arrowio.Stream, o Options) (*Sheet, error) {
	r, c := &stream.Rows{Env: env, Stream: in}, env.Columns
	if err := r.Require("run mars-train or mars-predict before", c.PredictedClass, c.Probability); err != nil {
		return nil, err
	}
	meta, err := r.Meta()
	if err != nil {
		return nil, err
	}
	class := -1
	if o.For != "" {
		if class = slices.Index(meta.Classes, o.For); class < 0 {
			return nil, noClass(o.For, meta.Classes)
		}
	}
	rows, err := gather(ctx, r, class, o.Until != nil)
	if err != nil {
		return nil, err
	}
	budget := o.Budget
	if o.Until != nil {
		budget = o.Until.budget(env, rows, class, o.Uniform, diagnostics.Read(meta))
	}
	if n := len(rows.sizes); budget > n {
		env.Logger().Warn(fmt.Sprintf("%s: there are only %d target rows, fewer than the %d to draw: all of them are to be labelled", r.Name(), n, budget))
		budget = n
	}
	uniform, chosen := ppi.Budget(budget, o.Uniform || budget == len(rows.sizes))
	return newSheet(rows, ppi.Take(rows.sizes, uniform, chosen, env.Seed), env, meta, o.Label), nil
}

// noClass is the error of a class that there is not.
func noClass(name string, classes []string) error {
	meant := ""
	if near := spelling.Nearest(name, classes); near != "" {
		meant = fmt.Sprintf(": did you mean %q?", near)
	}
	return fmt.Errorf("--for %s: the source has no such class (its classes are %s)%s", name, strings.Join(classes, ", "), meant)
}

// rows are the target's that have a value.
type rows struct {
	name   string
	target *sheet.Target
	sizes  []float64 // how much each row is to be chosen
	places []sheet.Place
	whole  bool // identities are whole numbers by their type
	guess  []string
	sure   []float32
	all    [][]float32 // posteriors, where a budget is to be estimated; nil otherwise
}

// gather reads the target's rows, and keeps their posteriors if that is asked for.
func gather(ctx context.Context, r *stream.Rows, class int, keep bool) (*rows, error) {
	target, err := sheet.NewTarget(r)
	if err != nil {
		return nil, err
	}
	all := &rows{name: r.Name(), target: target, whole: true}
	for _, i := range r.Schema().FieldIndices(r.Columns.ID) {
		all.whole = arrow.IsInteger(r.Schema().Field(i).Type.ID())
	}
	err = r.Each(ctx, func(rec arrow.Record) error {
		places, err := target.Add(rec)
		if err != nil || len(places) == 0 {
			return err
		}
		return all.add(r, rec, places, class, keep)
	})
	switch {
	case err != nil:
		return nil, err
	case len(all.sizes) == 0:
		return nil, r.EmptyDomain(arrowio.TargetDomain)
	}
	return all, nil
}

// add adds those rows of a batch.
func (a *rows) add(r *stream.Rows, rec arrow.Record, places []sheet.Place, class int, keep bool) error {
	p, err := arrowio.VectorColumn(rec, r.Columns.Probability)
	if err != nil {
		return err
	}
	guess, err := arrowio.StringColumn(rec, r.Columns.PredictedClass)
	if err != nil {
		return err
	}
	a.places = append(a.places, places...)
	for _, place := range places {
		i := place.At
		row := p.Row(i)
		a.sizes = append(a.sizes, ppi.Doubt(row, class))
		a.guess, a.sure = append(a.guess, guess.Values[i]), append(a.sure, slices.Max(row))
		if keep {
			a.all = append(a.all, slices.Clone(row))
		}
	}
	return nil
}
