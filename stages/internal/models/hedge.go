package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"

	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/levels"
	"mars.dev/mars/stages/internal/prepared"
	"mars.dev/mars/stages/internal/stream"
)

// A Hedged is a model under several assumptions and what is known of its rows.
type Hedged struct {
	*hedge.Model
	Source     []float64 // p_S
	TargetRows int
	Said       *diagnostics.Diagnostics // what the model says of itself
}

// FitHedge gathers the vectors of a column and fits a model under several assumptions to
// them.
func FitHedge(ctx context.Context, r *stream.Rows, column string, classes []string, o hedge.Options) (*Hedged, error) {
	r.HoldOut(0)
	s, err := r.Gather(ctx, classes, stream.Want{Vector: column, Source: true, Target: true, Labels: true, Batches: true, MaxTarget: hedge.MaxRows})
	if err != nil {
		return nil, err
	}
	tree, err := levels.OfSchema(r.Schema(), classes)
	if err != nil {
		return nil, r.Fail("", err, "")
	}
	o.Groups = tree.Groups()
	o.Progress = func(done, total int) { r.Report("steps", int64(done), int64(total)) }
	m, err := hedge.Fit(ctx, hedge.Problem{Source: s.Source, Labels: s.Labels, Target: s.Target, Classes: classes, Columns: columnNames(r, column, s.Source.Cols), Batches: s.Batches, BatchNames: s.BatchNames, Missing: s.MissingShare()}, o)
	if err != nil {
		return nil, r.Fail(column, err, "")
	}
	if s.Batches != nil && m.Left == nil {
		r.Logger().Info(fmt.Sprintf("%s: from %d of %d rows or more on, each is left out to learn how much batches differ", spelling.Count(len(s.BatchNames), "labelled batch", "labelled batches"), hedge.FewestBatches, hedge.LeftRows))
	}
	said, counts := diagnostics.OfHedge(m), stream.Counts(s.Labels, len(classes))
	said.Doubts = r.Doubts()
	targetRows, all, err := r.Totals(classes)
	if err != nil {
		return nil, err
	}
	if all != nil {
		counts = all
	}
	source := stream.Shares(counts)
	if weights, err := labelshift.Weights(m.Proportions, source); err == nil {
		said.Weights = diagnostics.NewWeights(classes, weights, counts)
	}
	targetRows = cmp.Or(targetRows, s.TargetRows)
	m.SourceShares, m.Rows, m.Doubts = source, targetRows, said.Doubts
	Note(&m.Use, r, column)
	return &Hedged{m, source, targetRows, said}, nil
}

// columnNames are those of a column of vectors; nil where the stream does not say.
func columnNames(r *stream.Rows, column string, width int) []string {
	p, err := prepared.Parse(Preparation(r))
	if err != nil || column != r.Columns.Features || len(p.Columns) != width {
		return nil
	}
	return p.Columns
}

// LoadHedge reads a model under several assumptions, and the SHA-256 of its file.
func LoadHedge(path string) (*hedge.Model, string, error) {
	f, err := Open(path)
	if err != nil {
		return nil, "", err
	}
	if f.Kind != KindHedge {
		return nil, "", fmt.Errorf("%s: is no model of the method hedge, which alone sums over all rows are made for: make it with mars label --method hedge --save", path)
	}
	m, sum, err := load(f, hedge.Load)
	if err != nil {
		return nil, "", err
	}
	tree, err := levels.Parse(m.Levels, m.Classes)
	if err == nil && m.Sampling != nil && !reflect.DeepEqual(m.Groups, tree.Groups()) {
		err = errors.New("its groups of classes are not those of its levels: make the model again")
	}
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	return m, sum, nil
}
