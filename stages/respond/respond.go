// Package respond is the stage that maps a model over a part of the target and leaves the sums
// that the proportions of all rows need (package responses). The sums of all parts are merged;
// Answer says what they come to, and another pass begins where they lead.
//
// Columns read: features, or embedding where the model was trained on that. It adds none.
package respond

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/internal/models"
	"mars.dev/mars/stages/internal/responses"
	"mars.dev/mars/stages/internal/stream"
)

// A Pass is a model, and the point at which sums are taken.
type Pass struct {
	Model  *hedge.Model
	header responses.Header
}

// Open begins the pass of a model's file after those whose merged sums are in the file after;
// the first if that is "".
func Open(model, after string) (*Pass, error) {
	m, sum, err := models.LoadHedge(model)
	if err != nil {
		return nil, err
	}
	if after == "" {
		return First(m, sum)
	}
	r, err := responses.LoadOf(m, sum, after)
	if err != nil {
		return nil, err
	}
	p := &Pass{m, r.Header}
	next, _, err := p.After(r)
	return next, err
}

// First is the first pass of a model. sum stands for it: the SHA-256 of its file, or "" for one
// that is in no file.
func First(m *hedge.Model, sum string) (*Pass, error) {
	point, err := m.Start()
	if err != nil {
		return nil, err
	}
	return &Pass{m, responses.Header{Model: sum, Classes: m.Classes, Pass: 1, Point: point}}, nil
}

// After is the pass after p, which has left r; step is how far it went, in L1.
func (p *Pass) After(r *responses.Responses) (next *Pass, step float64, err error) {
	point, step, err := p.Model.Next(r.Total(p.Model), r.Point)
	if err != nil {
		return nil, 0, err
	}
	h := r.Header
	h.Pass, h.Point = r.Pass+1, point
	return &Pass{p.Model, h}, step, nil
}

// Number is 1 for the first pass.
func (p *Pass) Number() int { return p.header.Pass }

// Rows maps the model over a part of the target, of that name.
func (p *Pass) Rows(ctx context.Context, env stages.Env, in arrowio.Stream, part string) (*responses.Responses, error) {
	r, m := &stream.Rows{Env: env, Stream: in}, p.Model
	column := models.Input(env, m.Vectors)
	if err := r.Require("give rows as the model's were, or a file that mars predict --model reads", column); err != nil {
		return nil, err
	}
	if err := models.CheckPreparation(r, m.Preparation); err != nil {
		return nil, err
	}
	sums := m.NewSums()
	err := r.Each(ctx, func(rec arrow.Record) error {
		x, err := targets(r, rec, column, m.Width())
		if err != nil || x.Rows == 0 {
			return err
		}
		if err := m.Respond(ctx, sums, p.header.Point, m.Prepare(x)); err != nil {
			return r.Fail(column, err, "")
		}
		env.Report("rows", sums.Rows(), 0)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if sums.Rows() == 0 {
		return nil, r.EmptyDomain(arrowio.TargetDomain)
	}
	return responses.New(p.header, part, sums), nil
}

// targets are the vectors of a batch's target rows.
func targets(r *stream.Rows, rec arrow.Record, column string, width int) (blas32.General, error) {
	x, err := r.TargetVectors(rec, column)
	if err == nil && x.Rows > 0 && x.Cols != width {
		err = r.Fail(column, fmt.Errorf("rows have %d numbers, and the model takes %d", x.Cols, width), "featurize these rows as those that the model was trained on")
	}
	return x, err
}
