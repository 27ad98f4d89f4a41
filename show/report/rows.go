package report

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/show/figures"
)

// shownRows is how many rows of a stream are drawn: a fair sample, of which a page of four panels has 300 kB.
const shownRows = 1200

// Rows is what there is to see of the rows of a stream: features and embedding, which are
// before and after a step, in the plane.
func Rows(ctx context.Context, in arrowio.Stream, o Options) (*Part, error) {
	columns := arrowio.DefaultColumns()
	rows, err := figures.Read(ctx, in, figures.RowOptions{Columns: columns, Vectors: []string{columns.Features, columns.Embedding}, Domain: "both", Colours: "auto", Limit: shownRows})
	if err != nil {
		return nil, err
	}
	p := &Part{Title: "Rows in two dimensions"}
	counts := map[arrowio.Domain]int{}
	for _, domain := range rows.Domains {
		counts[domain]++
	}
	p.Lead = fmt.Sprintf("%d rows of the source and %d of the target, of %d in all.", counts[arrowio.SourceDomain], counts[arrowio.TargetDomain], rows.Total)
	if len(rows.Columns) == 2 {
		p.Text = append(p.Text, fmt.Sprintf("%s are as the rows came, and %s is as a network sees them: where source and target of a class lie on each other, labels carry over.", columns.Features, columns.Embedding))
	}
	layouts := []figures.ScatterOptions{{}}
	if o.TSNE {
		layouts = append(layouts, figures.ScatterOptions{TSNE: true})
	}
	for _, layout := range layouts {
		if err := p.figure(figures.Scatter(ctx, []*figures.Rows{rows}, layout)); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// openSelection reads what mars train --select left of its candidates.
func openSelection(ctx context.Context, r *arrowio.Reader) (*Part, error) {
	c := &figures.Candidates{Chosen: -1}
	err := arrowio.Each(ctx, r, func(rec arrow.Record) error { return addCandidates(c, rec) })
	if err != nil {
		return nil, err
	}
	return Selection(c)
}

var errNoSelection = errors.New("has columns or scores that mars train --select does not write: run it again")

// addCandidates reads the settings, which are text, the scores, which are numbers before
// seconds, and what became of each candidate.
func addCandidates(c *figures.Candidates, rec arrow.Record) error {
	c.Settings, c.Scores = nil, nil
	var settings []*array.String
	var scores []*array.Float64
	var seconds *array.Float64
	for i, f := range rec.Schema().Fields() {
		switch column := rec.Column(i).(type) {
		case *array.String:
			if f.Name != "failed" {
				c.Settings, settings = append(c.Settings, f.Name), append(settings, column)
			}
		case *array.Float64:
			if f.Name == "seconds" {
				seconds = column
			} else {
				c.Scores, scores = append(c.Scores, f.Name), append(scores, column)
			}
		}
	}
	chosen, isBool := rec.Column(rec.Schema().FieldIndices("chosen")[0]).(*array.Boolean)
	failed, isText := rec.Column(rec.Schema().FieldIndices("failed")[0]).(*array.String)
	if !isBool || !isText || seconds == nil {
		return errNoSelection
	}
	for i := range int(rec.NumRows()) {
		var values []string
		for _, s := range settings {
			values = append(values, s.Value(i))
		}
		var of []float64
		for _, s := range scores {
			v := math.NaN()
			if s.IsValid(i) {
				v = s.Value(i)
			}
			if math.IsInf(v, 0) {
				return errNoSelection
			}
			of = append(of, v)
		}
		why := ""
		if failed.IsValid(i) {
			why = failed.Value(i)
		}
		if chosen.IsValid(i) && chosen.Value(i) {
			c.Chosen = len(c.Values)
		}
		c.Values, c.Of, c.Seconds, c.Failed = append(c.Values, values), append(c.Of, of), append(c.Seconds, seconds.Value(i)), append(c.Failed, why)
	}
	return nil
}
