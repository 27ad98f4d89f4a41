// Package train is the stage that adapts: it learns the representation g, the
// classifier h and the critic v (Algorithm 1) and labels all rows.
//
// Columns read: features, domain and label; weight or matched, where the stream
// has them, give the p_T that training starts from. The methods translate and gmm-ot
// read embedding instead of features where there is one. Added: prediction,
// predicted_class, probability.
package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"mars/arrowio"
	"mars/stages"
	"mars/stages/internal/rows"
	"mars/stages/internal/state"
	"mars/stages/train/adapt"
	"mars/stages/train/adapt/retrain"
	"mars/stages/train/adapt/translate"
	"mars/stages/train/gmmot"
)

// Options of training.
type Options struct {
	Method   string // one of Methods
	Beta     float64
	Arch     string // see adapt.Config.Arch
	Schedule adapt.Schedule
	// AsPublishedCode does what the authors' program does where it differs from the
	// paper: see adapt.Config.AsPublishedCode and, for marsg, publishedMixture.
	AsPublishedCode bool
	Shape           []int                 // of a row of features; nil: what the stream says
	Tune            []func(*adapt.Config) // changes of the schedule, in order
	Initial         string                // model file to start from; "" for fresh weights
	// Proportions estimates p_T as marsc and marsg train: one of ProportionNames;
	// "" is mars.
	Proportions string
	// Decision is what probability is made ready for: "accuracy", "balanced" or
	// "none"; "" is accuracy for translate and none for the others.
	Decision string
	// Panel has the method translate ask labelshift's panel whether its proportions can
	// be believed.
	Panel   bool
	Save    string // model file to write; "" for none
	Metrics string // Arrow file for the figures of each epoch; "" for none
}

// Methods are the names of the ways to train.
func Methods() []string { return append(adapt.MethodNames(), gmmot.Method, retrain.Method) }

// Fit trains, then labels all rows. If training breaks down, the last good model
// is saved all the same and the error says so.
func Fit(o Options) stages.Func {
	return func(ctx context.Context, env stages.Env, in arrowio.Source, out arrowio.Sink) error {
		c, column := env.Columns, o.column(env, in)
		if err := rows.Require(in, "begin with mars-featurize, or name the column with a flag", column, c.Domain, c.Label); err != nil {
			return err
		}
		return rows.Fit(ctx, env, in, out, o.Save, func(spool *arrowio.Spool) (*rows.Learnt, error) {
			if o.Method == gmmot.Method {
				return learnMixture(ctx, env, spool, o)
			}
			model, diagnostics, err := learn(ctx, env, spool, o)
			if err != nil {
				return nil, keep(model, o.Save, err)
			}
			if model.Provenance, err = rows.Provenance(env, spool); err != nil {
				return nil, err
			}
			model.Vectors = rows.VectorsOf(env, column)
			if model.Decision, err = translate.ParseDecisionOrNone(o.decision()); err != nil {
				return nil, err
			}
			return &rows.Learnt{
				Save: func(path string) (string, error) { return state.Save(path, model.Save) },
				Emit: emitter(rows.Networks(model), model.Proportions, diagnostics),
			}, nil
		})
	}
}

// column is that of the vectors to train on. A mixture is fitted where the paper's
// Algorithm 2 fits it: in the latent space, if there is one.
func (o Options) column(env stages.Env, in arrowio.Source) string {
	switch {
	case o.Method == retrain.Method:
		return rows.Vectors(in, env)
	case o.Method == gmmot.Method && arrowio.HasColumn(in.Schema(), env.Columns.Embedding):
		return env.Columns.Embedding
	}
	return env.Columns.Features
}

func (o Options) decision() string {
	switch {
	case o.Decision != "":
		return o.Decision
	case o.Method == retrain.Method:
		return translate.Accuracy.String()
	}
	return "none"
}

// emitter labels rows with the model. The diagnostics become the stream's, and so
// does the estimate of p_T, if there is one.
func emitter(model *rows.Labeller, proportions []float64, diagnostics *rows.Diagnostics) stages.Func {
	return func(ctx context.Context, env stages.Env, in arrowio.Source, out arrowio.Sink) error {
		meta, err := arrowio.ReadMeta(in.Schema())
		if err != nil {
			return err
		}
		meta.Diagnostics = diagnostics.JSON()
		if proportions != nil {
			meta.TargetProportions = proportions
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

// learn trains by the method.
func learn(ctx context.Context, env stages.Env, in *arrowio.Spool, o Options) (*adapt.Model, *rows.Diagnostics, error) {
	fit := fitAligned
	if o.Method == retrain.Method {
		fit = fitTranslated
	}
	job, err := fit(ctx, env, in, o)
	if err != nil {
		return nil, nil, err
	}
	for _, tune := range o.Tune {
		tune(&job.config)
	}
	if o.Initial != "" {
		if job.config.Initial, _, err = state.Load(o.Initial, adapt.Load); err != nil {
			return nil, nil, err
		}
	}
	metrics, err := newMetrics(env, o.Metrics, job.problem.Classes)
	if err != nil {
		return nil, nil, err
	}
	job.config.OnEpoch = metrics.epoch
	model, err := job.train(ctx, job.problem, job.config)
	if err := metrics.close(err); err != nil {
		return model, nil, err
	}
	diagnostics, err := job.diagnose(env, in, model, metrics)
	return model, diagnostics, err
}

// A job is a training with all that it needs.
type job struct {
	problem     adapt.Problem
	config      adapt.Config
	train       func(context.Context, adapt.Problem, adapt.Config) (*adapt.Model, error)
	unmoved     blas32.General    // the source as it came, where the problem's has been moved
	diagnostics *rows.Diagnostics // of the estimate of p_T; nil where none was made
}

// fitAligned is the job of the methods of adapt.
func fitAligned(ctx context.Context, env stages.Env, in *arrowio.Spool, o Options) (*job, error) {
	method, err := adapt.ParseMethod(o.Method, o.Beta)
	if err != nil {
		return nil, err
	}
	p, s, err := gather(ctx, env, in, o, method.Aligns())
	if err != nil {
		return nil, err
	}
	c, err := adapt.Recipe(o.Arch, p.Shape, o.Schedule)
	if err != nil {
		return nil, err
	}
	c.SetMethod(method)
	c.Seed, c.Jobs = env.Seed, env.Jobs
	if o.AsPublishedCode {
		c.AsPublishedCode()
	}
	if method.NeedsEstimate() {
		if c.StartProportions, err = startProportions(in, s); err != nil {
			return nil, err
		}
		if c.Estimate, err = estimator(ctx, env, o, c.StartProportions); err != nil {
			return nil, fmt.Errorf("%s: %w", in.Name(), err)
		}
	}
	j := &job{problem: *p, config: c, train: adapt.Train}
	if method.NeedsEstimate() {
		j.diagnostics = &rows.Diagnostics{Estimator: cmp.Or(o.Proportions, "mars")}
	}
	return j, nil
}

// gather turns the stream into a problem.
func gather(ctx context.Context, env stages.Env, in *arrowio.Spool, o Options, target bool) (*adapt.Problem, *rows.Samples, error) {
	classes, err := rows.Classes(ctx, in, env)
	if err != nil {
		return nil, nil, err
	}
	column := o.column(env, in)
	s, err := rows.Gather(ctx, env, in, classes, rows.Want{Vector: column, Source: true, Target: target, Labels: true, Start: true})
	if err != nil {
		return nil, nil, err
	}
	p := &adapt.Problem{Source: s.Source, Labels: s.Labels, Target: s.Target, Classes: classes}
	p.Shape, err = rows.ShapeOr(o.Shape, in, column, s.Source.Cols)
	return p, s, err
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
