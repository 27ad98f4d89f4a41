// Package train is the stage that adapts: it learns the representation g, the
// classifier h and the critic v (Algorithm 1) and labels all rows.
//
// Columns read: features, domain and label; weight or matched, where the stream
// has them, give the p_T that training starts from. Added: prediction,
// predicted_class, probability.
package train

import (
	"context"
	"errors"
	"fmt"

	"mars/arrowio"
	"mars/stages"
	"mars/stages/internal/rows"
	"mars/stages/internal/state"
	"mars/stages/train/adapt"
)

// Options of training.
type Options struct {
	Method   string // one of adapt.Methods
	Beta     float64
	Arch     string // see adapt.Config.Arch
	Schedule adapt.Schedule
	Shape    []int                 // of a row of features; nil: what the stream says
	Tune     []func(*adapt.Config) // changes of the schedule, in order
	Initial  string                // model file to start from; "" for fresh weights
	Save     string                // model file to write; "" for none
	Metrics  string                // Arrow file for the figures of each epoch; "" for none
}

// Fit trains, then labels all rows. If training breaks down, the last good model
// is saved all the same and the error says so.
func Fit(o Options) stages.Func {
	return func(ctx context.Context, env stages.Env, in arrowio.Source, out arrowio.Sink) error {
		c := env.Columns
		if err := rows.Require(in, "begin with mars-featurize, or name the column with a flag", c.Features, c.Domain, c.Label); err != nil {
			return err
		}
		return rows.Fit(ctx, env, in, out, o.Save, func(spool *arrowio.Spool) (*rows.Learnt, error) {
			model, err := learn(ctx, env, spool, o)
			if err != nil {
				return nil, keep(model, o.Save, err)
			}
			if model.Provenance, err = rows.Provenance(env, spool); err != nil {
				return nil, err
			}
			return &rows.Learnt{
				Save: func(path string) (string, error) { return state.Save(path, model.Save) },
				Emit: emitter(model),
			}, nil
		})
	}
}

// emitter labels rows with the model.
func emitter(model *adapt.Model) stages.Func {
	return func(ctx context.Context, env stages.Env, in arrowio.Source, out arrowio.Sink) error {
		meta, err := arrowio.ReadMeta(in.Schema())
		if err != nil {
			return err
		}
		if model.Proportions != nil {
			meta.TargetProportions = model.Proportions
		}
		return rows.Predict(ctx, env, in, out, meta, model)
	}
}

// keep saves the last good model of a training that broke down.
func keep(model *adapt.Model, path string, cause error) error {
	var diverged *adapt.DivergedError
	if model == nil || path == "" || !errors.As(cause, &diverged) {
		return cause
	}
	if _, err := state.Save(path, model.Save); err != nil {
		return errors.Join(cause, err)
	}
	return fmt.Errorf("%w; the model of epoch %d, the last good one, is kept in %s", cause, model.Epoch, path)
}

func learn(ctx context.Context, env stages.Env, in *arrowio.Spool, o Options) (*adapt.Model, error) {
	problem, config, err := prepare(ctx, env, in, o)
	if err != nil {
		return nil, err
	}
	if o.Initial != "" {
		if config.Initial, _, err = state.Load(o.Initial, adapt.Load); err != nil {
			return nil, err
		}
	}
	metrics, err := newMetrics(env, o.Metrics, problem.Classes)
	if err != nil {
		return nil, err
	}
	config.OnEpoch = metrics.epoch
	model, err := adapt.Train(ctx, *problem, *config)
	if err := metrics.close(err); err != nil {
		return model, err
	}
	return model, nil
}

// prepare turns the stream into a problem, and the options into a configuration.
func prepare(ctx context.Context, env stages.Env, in *arrowio.Spool, o Options) (*adapt.Problem, *adapt.Config, error) {
	method, err := adapt.ParseMethod(o.Method, o.Beta)
	if err != nil {
		return nil, nil, err
	}
	classes, err := rows.Classes(ctx, in, env)
	if err != nil {
		return nil, nil, err
	}
	s, err := rows.Gather(ctx, env, in, classes, rows.Want{
		Vector: env.Columns.Features, Source: true, Target: method.Aligns(), Labels: true, Start: true})
	if err != nil {
		return nil, nil, err
	}
	p := &adapt.Problem{Source: s.Source, Labels: s.Labels, Target: s.Target, Classes: classes}
	if p.Shape, err = rows.ShapeOr(o.Shape, in, env.Columns.Features, s.Source.Cols); err != nil {
		return nil, nil, err
	}
	c, err := adapt.Recipe(o.Arch, p.Shape, o.Schedule)
	if err != nil {
		return nil, nil, err
	}
	c.Method, c.Seed, c.Jobs = method, env.Seed, env.Jobs
	if method.NeedsEstimate() {
		c.Estimate = estimator(o.Method, env)
		if c.StartProportions, err = startProportions(in, s); err != nil {
			return nil, nil, err
		}
	}
	for _, tune := range o.Tune {
		tune(&c)
	}
	return p, &c, nil
}

// startProportions is the p_T that earlier stages found: p_T(y) = w†(y) p_S(y)
// by the weights, or else the shares of matched; nil if there is neither.
func startProportions(in arrowio.Source, s *rows.Samples) ([]float64, error) {
	p, total := make([]float64, len(s.Classes)), 0.0
	if s.SourceWeight != nil {
		for i, label := range s.Labels {
			p[label] += float64(s.SourceWeight[i])
			total += float64(s.SourceWeight[i])
		}
	} else {
		for i, k := range s.TargetMatched.Values {
			if s.TargetMatched.Null(i) {
				continue
			}
			if k < 0 || int(k) >= len(p) {
				return nil, fmt.Errorf("%s: a target row was matched with class %d, and there are %d: run mars-match on this stream", in.Name(), k, len(p))
			}
			p[k]++
			total++
		}
	}
	if total <= 0 {
		return nil, nil
	}
	for k := range p {
		p[k] /= total
	}
	return p, nil
}
