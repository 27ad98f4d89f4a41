// Package embed is the stage that learns a representation z = g(x) with a
// classifier h on the labelled source rows, and adds z to every row.
//
// Columns read: features, and to learn also domain and label. Added: embedding.
package embed

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"

	"mars/arrowio"
	"mars/stages"
	"mars/stages/internal/rows"
	"mars/stages/internal/state"
	"mars/stages/train/adapt"
)

// Options of learning.
type Options struct {
	Arch  string                // see adapt.Config.Arch
	Shape []int                 // of a row of features; nil: what the stream says
	Tune  []func(*adapt.Config) // changes of the architecture's defaults, in order
	Save  string                // model file to write; "" for none
}

// Fit learns g and h on the source rows, then embeds all rows.
func Fit(o Options) stages.Func {
	return func(ctx context.Context, env stages.Env, in arrowio.Source, out arrowio.Sink) error {
		c := env.Columns
		if err := rows.Require(in, "begin with mars-featurize, or name the column with a flag", c.Features, c.Domain, c.Label); err != nil {
			return err
		}
		return rows.Fit(ctx, env, in, out, o.Save, func(spool *arrowio.Spool) (*rows.Learnt, error) {
			model, err := learn(ctx, env, spool, o)
			if err != nil {
				return nil, err
			}
			model.Provenance, err = rows.Provenance(env, spool)
			return &rows.Learnt{
				Save: func(path string) (string, error) { return state.Save(path, model.Save) },
				Emit: emitter(model),
			}, err
		})
	}
}

func learn(ctx context.Context, env stages.Env, in *arrowio.Spool, o Options) (*adapt.Model, error) {
	classes, err := rows.Classes(ctx, in, env)
	if err != nil {
		return nil, err
	}
	s, err := rows.Gather(ctx, env, in, classes, rows.Want{Vector: env.Columns.Features, Source: true, Labels: true})
	if err != nil {
		return nil, err
	}
	problem := adapt.Problem{Source: s.Source, Labels: s.Labels, Classes: classes}
	if problem.Shape, err = rows.ShapeOr(o.Shape, in, env.Columns.Features, s.Source.Cols); err != nil {
		return nil, err
	}
	config, err := adapt.Recipe(o.Arch, problem.Shape, adapt.ScheduleDefault)
	if err != nil {
		return nil, err
	}
	config.Seed, config.Jobs = env.Seed, env.Jobs
	for _, tune := range o.Tune {
		tune(&config)
	}
	var last adapt.EpochMetrics
	config.OnEpoch = func(m adapt.EpochMetrics) error {
		last = m
		env.Report("epochs", int64(m.Epoch+1), int64(m.Epochs))
		return nil
	}
	model, err := adapt.Train(ctx, problem, config)
	if err != nil {
		return nil, err
	}
	env.Logger().Info(fmt.Sprintf("learnt %s on %d source rows of %d classes: %d numbers become %d",
		model.Arch(), s.Source.Rows, len(classes), s.Source.Cols, model.EmbeddingWidth()),
		"epochs", last.Epochs, "loss", fmt.Sprintf("%.4f", last.ClassLoss), "source accuracy", fmt.Sprintf("%.3f", last.SourceAccuracy))
	return model, nil
}

// Apply embeds rows with a model saved by Fit or by training, in constant memory.
func Apply(path string) stages.Func {
	return func(ctx context.Context, env stages.Env, in arrowio.Source, out arrowio.Sink) error {
		if err := rows.Require(in, "begin with mars-featurize, or name the column with a flag", env.Columns.Features); err != nil {
			return err
		}
		model, sum, err := state.Load(path, adapt.Load)
		if err != nil {
			return err
		}
		env.KeepState(path, sum)
		return emitter(model)(ctx, env, in, out)
	}
}

// emitter adds the model's embedding to rows.
func emitter(model *adapt.Model) stages.Func {
	return func(ctx context.Context, env stages.Env, in arrowio.Source, out arrowio.Sink) error {
		meta, err := arrowio.ReadMeta(in.Schema())
		if err != nil {
			return err
		}
		if meta.Classes == nil {
			meta.Classes = model.Classes
		}
		field := arrow.Field{Name: env.Columns.Embedding, Type: arrowio.VectorType(model.EmbeddingWidth())}
		return rows.Emit(ctx, env, in, out, meta, []arrow.Field{field}, func(rec arrow.Record) ([]arrow.Array, error) {
			x, err := rows.Features(rec, in, env, model.Vectors, model.Width())
			if err != nil {
				return nil, err
			}
			z := model.Embed(x)
			return []arrow.Array{arrowio.NewVectorArray(arrowio.Vectors{Data: z.Data, Rows: z.Rows, Width: z.Cols})}, nil
		})
	}
}
