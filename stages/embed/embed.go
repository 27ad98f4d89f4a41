// Package embed is the stage that learns a representation z = g(x) with a
// classifier h on the labelled source rows, or by self-training on the target's rows as
// well, and adds z to every row.
//
// Columns read: features, and to learn also domain and label. Added: embedding.
package embed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/augment"
	"mars.dev/mars/stages/algorithms/selftrain"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/models"
	"mars.dev/mars/stages/internal/state"
	"mars.dev/mars/stages/internal/stream"
)

// Options of learning.
type Options struct {
	Method string                // one of Methods; "" is the first
	Arch   string                // see adapt.Config.Arch
	Shape  []int                 // of a row of features; nil: what the stream says
	Tune   []func(*adapt.Config) // changes of the architecture's defaults, in order
	// HoldOut keeps one of so many source rows of each class from training; 0: those that
	// the column unseen marks, if there is one.
	HoldOut int
	// Augment is how rows are changed at random in self-training (see augment.Parse); "" is auto.
	Augment string
	Save    string // model file to write; "" for none
}

// Methods are the names of the ways to learn a representation.
func Methods() []string { return []string{"source", selftrain.Method} }

// Fit learns g and h, then embeds all rows.
func Fit(o Options) stages.Func {
	return func(ctx context.Context, env stages.Env, in arrowio.Stream, out arrowio.Sink) error {
		c := env.Columns
		if o.Shape != nil {
			env.Shape = o.Shape
		}
		if err := (&stream.Rows{Env: env, Stream: in}).Require("begin with mars-featurize, or name the column with a flag", c.Features, c.Domain, c.Label); err != nil {
			return err
		}
		return stream.Fit(ctx, env, in, out, o.Save, func(ctx context.Context, r *stream.Rows) (stream.State, error) {
			e, err := learn(ctx, r, o)
			if err != nil {
				return nil, err
			}
			e.Preparation = models.Preparation(r)
			e.Provenance, err = r.Provenance()
			return e, err
		})
	}
}

func learn(ctx context.Context, r *stream.Rows, o Options) (*encoder, error) {
	classes, err := r.Classes(ctx)
	if err != nil {
		return nil, err
	}
	r.HoldOut(o.HoldOut)
	s, err := r.Gather(ctx, classes, stream.Want{Vector: r.Columns.Features, Source: true, Target: o.Method == selftrain.Method, Labels: true})
	if err != nil {
		return nil, err
	}
	problem := adapt.Problem{Source: s.Source, Labels: s.Labels, Target: s.Target, Classes: classes}
	if problem.Shape, err = r.ShapeOf(r.Columns.Features, s.Source.Cols); err != nil {
		return nil, err
	}
	o.Arch = r.Arch(o.Arch)
	config, err := o.config(problem)
	if err != nil {
		return nil, err
	}
	if o.Augment != "" {
		if config.Augment, err = augment.Parse(o.Augment, problem.Shape); err != nil {
			return nil, r.Fail(r.Columns.Features, err, "")
		}
	}
	config.Seed, config.Jobs = r.Seed, r.Jobs
	for _, tune := range o.Tune {
		tune(&config)
	}
	var last adapt.EpochMetrics
	config.OnEpoch = func(m adapt.EpochMetrics) error {
		last = m
		r.Report("epochs", int64(m.Epoch+1), int64(m.Epochs))
		return nil
	}
	e, err := o.train(ctx, problem, config)
	if err != nil {
		return nil, err
	}
	if e.said != nil {
		diagnostics.LogPart(r.Env, e.said)
	}
	r.Logger().Info(fmt.Sprintf("learnt %s on %d source rows of %d classes: %d numbers become %d",
		e.Arch(), s.Source.Rows, len(classes), s.Source.Cols, e.EmbeddingWidth()),
		"held out", s.Held.Rows, "epochs", last.Epochs, "loss", fmt.Sprintf("%.4f", last.ClassLoss), "source accuracy", fmt.Sprintf("%.3f", last.SourceAccuracy))
	return e, nil
}

// config returns the settings of the method.
func (o Options) config(p adapt.Problem) (adapt.Config, error) {
	if o.Method == selftrain.Method {
		return selftrain.Config(o.Arch, p.Shape)
	}
	c, err := adapt.Recipe(o.Arch, p.Shape, adapt.ScheduleDefault)
	if err != nil {
		return adapt.Config{}, err
	}
	c.ForRows(p.Source.Rows)
	return c, nil
}

// train trains by the method.
func (o Options) train(ctx context.Context, p adapt.Problem, c adapt.Config) (*encoder, error) {
	if o.Method != selftrain.Method {
		m, err := adapt.Train(ctx, p, c)
		return &encoder{Model: m}, err
	}
	m, report, err := selftrain.Train(ctx, p, c)
	if err != nil {
		return nil, err
	}
	return &encoder{Model: m, said: diagnostics.NewSelfTraining(report)}, nil
}

// Apply embeds rows with a model saved by Fit or by training, in constant memory.
func Apply(path string) stages.Func {
	return func(ctx context.Context, env stages.Env, in arrowio.Stream, out arrowio.Sink) error {
		r := &stream.Rows{Env: env, Stream: in}
		if err := r.Require("begin with mars-featurize, or name the column with a flag", env.Columns.Features); err != nil {
			return err
		}
		model, sum, err := models.LoadNetworks(path)
		if err != nil {
			return advise(path, err)
		}
		if err := models.CheckPreparation(r, model.Preparation); err != nil {
			return err
		}
		r.KeepState(path, sum)
		return (&encoder{Model: model}).Emit(ctx, r, out)
	}
}

// advise says how to embed with another program's model.
func advise(path string, err error) error {
	foreign := (*models.Foreign)(nil)
	if !errors.As(err, &foreign) {
		return err
	}
	input := "x"
	if len(foreign.Inputs) > 0 {
		input = foreign.Inputs[0]
	}
	return fmt.Errorf(`%s: this is an ONNX model of %s, and only those of mars export are read: embed in Python, and give mars label or mars featurize the file:
  z = onnxruntime.InferenceSession(%q).run(None, {%q: x})[0]
  numpy.savez("source.npz", X=z, y=labels)`, path, cmp.Or(foreign.Producer, "another program"), path, input)
}

// An encoder adds the embedding of a model.
type encoder struct {
	*adapt.Model
	said *diagnostics.SelfTraining // nil for a model that was trained otherwise, or loaded
}

// Save keeps the model.
func (e *encoder) Save(path string) (string, error) { return state.Save(path, e.Model.Save) }

// Emit adds the embedding to rows.
func (e *encoder) Emit(ctx context.Context, r *stream.Rows, out arrowio.Sink) error {
	meta, err := r.Meta()
	if err != nil {
		return err
	}
	if meta.Classes == nil {
		meta.Classes = e.Classes
	}
	if e.said != nil {
		d := diagnostics.Read(meta)
		d.SelfTraining = e.said
		meta.Diagnostics = d.JSON()
	}
	field := arrow.Field{Name: r.Columns.Embedding, Type: arrowio.VectorType(e.EmbeddingWidth())}
	return r.Emit(ctx, out, meta, stream.Added{Fields: []arrow.Field{field}, Of: func(rec arrow.Record) ([]arrow.Array, error) {
		x, err := models.Features(r, rec, e.Vectors, e.Width())
		if err != nil {
			return nil, err
		}
		missing := models.TakeMissing(&x)
		z := e.Embed(x)
		for i := range missing { // an embedding of nothing is nothing
			for j := range z.Cols {
				z.Data[i*z.Stride+j] = float32(math.NaN())
			}
		}
		return []arrow.Array{arrowio.NewVectorArray(arrowio.Vectors{Data: z.Data, Rows: z.Rows, Width: z.Cols})}, nil
	}})
}
