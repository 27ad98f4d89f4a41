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
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/augment"
	"mars.dev/mars/stages/algorithms/gmmot"
	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/selftrain"
	"mars.dev/mars/stages/algorithms/translate"
	"mars.dev/mars/stages/algorithms/unmix"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/labelled"
	"mars.dev/mars/stages/internal/models"
	"mars.dev/mars/stages/internal/state"
	"mars.dev/mars/stages/internal/stream"
)

// Options of training.
type Options struct {
	Method   string // one of Methods, or Auto
	Beta     float64
	Arch     string // see adapt.Config.Arch
	Schedule adapt.Schedule
	// AsPublishedCode does what the authors' program does where it differs from the
	// paper: see adapt.Config.AsPublishedCode and, for marsg, publishedMixture.
	AsPublishedCode bool
	Shape           []int                 // of a row of features; nil: what the stream says
	Tune            []func(*adapt.Config) // changes of the schedule, in order
	Initial         string                // model file to start from; "" for fresh weights
	// Augment is how rows are changed at random in training (see augment.Parse); "" is
	// auto for self-training and none for the others.
	Augment string
	// Proportions estimates p_T as marsc and marsg train: one of ProportionNames;
	// "" is mars. Given is p_T for Proportions given, and nil for all others.
	Proportions string
	Given       func(classes []string) ([]float64, error)
	// Decision is what probability is made ready for: "accuracy", "balanced" or
	// "none"; "" is accuracy for translate, self-training and hedge, and none for the others.
	Decision string
	// Assume and Classifiers are those of the method hedge; see hedge.Options.
	Assume, Classifiers []string
	// KeepAll keeps what labels rows under each assumption of hedge, for labels of some target
	// rows; see hedge.Options.
	KeepAll bool
	// Panel has the method translate ask labelshift's panel whether its proportions can
	// be believed.
	Panel bool
	// HoldOut keeps one of so many source rows of each class from training, for an estimate
	// of p_T by the classifier's mistakes; 0: those that the column unseen marks if there
	// is one, or else one in DefaultHoldOut where such an estimate is asked for.
	HoldOut int
	Save    string // model file to write; "" for none
	Metrics string // Arrow file for the figures of each epoch; "" for none

	// Labels are those that a person gave some target rows. The method hedge weighs its
	// assumptions by them; the others only know of classes that the source lacks.
	Labels Labels

	trial bool           // the model is to be scored: nothing is said of it
	given *labelled.Rows // of Labels; nil if there are none
}

// Labels are rows of the target that a person has labelled.
type Labels = labelled.Options

// Methods are the names of the ways to train.
func Methods() []string {
	return append(adapt.MethodNames(), gmmot.Method, translate.Method, hedge.Method, unmix.Method)
}

// Auto is the method that is chosen by the rows: self-training for images, translate for
// images that have an embedding, and hedge for all others.
const Auto = "auto"

func autoMethod(r *stream.Rows) string {
	switch {
	case !r.Images():
		return hedge.Method
	case r.Has(r.Columns.Embedding):
		return translate.Method
	}
	return selftrain.Method
}

// Fit trains, then labels all rows. If training breaks down, the last good model
// is saved all the same and the error says so.
func Fit(o Options) stages.Func {
	return func(ctx context.Context, env stages.Env, in arrowio.Stream, out arrowio.Sink) error {
		if o.Shape != nil {
			env.Shape = o.Shape
		}
		r := &stream.Rows{Env: env, Stream: in}
		o := o
		if o.Method == Auto {
			o.Method = autoMethod(r)
		}
		if o.Augment != "" && o.Method == hedge.Method {
			return r.Fail("", errors.New("these rows are no images, and method hedge changes no row at random"), "leave --augment out, or say the shape of the images with --shape")
		}
		if err := o.require(r); err != nil {
			return err
		}
		return stream.Fit(ctx, env, in, out, o.Save, func(ctx context.Context, r *stream.Rows) (*trained, error) {
			return fit(ctx, r, o)
		})
	}
}

// require reports the first column that training needs and that is missing.
func (o Options) require(r *stream.Rows) error {
	return r.Require("begin with mars-featurize, or name the column with a flag", o.column(r), r.Columns.Domain, r.Columns.Label)
}

// fit trains by the method, and knows the classes of the labels that were given.
func fit(ctx context.Context, r *stream.Rows, o Options) (*trained, error) {
	if o.Labels.Sheet == nil {
		return fitMethod(ctx, r, o)
	}
	classes, err := r.Classes(ctx)
	if err != nil {
		return nil, err
	}
	if o.given, err = o.Labels.Find(ctx, r, classes, o.column(r)); err != nil {
		return nil, err
	}
	if fresh := o.given.Fresh(); o.Save != "" && len(fresh) > 0 {
		// What a model says of other targets goes by the classes' shares in the source, which such a class has none of.
		return nil, fmt.Errorf("%s: the labels have %s, and a model file knows the classes of the source alone: leave --save out, or --labels, and give the rows of %[2]s with their labels as a further --source, in a file with the source's columns", o.given.Path, strings.Join(fresh, ", "))
	}
	t, err := fitMethod(ctx, r, o)
	if err != nil {
		return nil, err
	}
	o.given.Extend(t.model)
	return t, nil
}

// fitMethod trains by the method. If training breaks down, the last good model is saved.
func fitMethod(ctx context.Context, r *stream.Rows, o Options) (*trained, error) {
	switch o.Method {
	case gmmot.Method:
		return learnMixture(ctx, r, o)
	case hedge.Method:
		return learnHedge(ctx, r, o)
	case unmix.Method:
		return learnUnmix(ctx, r, o)
	}
	model, said, err := learn(ctx, r, o)
	if model != nil {
		models.Note(&model.Use, r, o.column(r))
	}
	if err != nil {
		return nil, keep(model, o.Save, err)
	}
	if model.Provenance, err = r.Provenance(); err != nil {
		return nil, err
	}
	if model.Decision, err = labelshift.ParseDecisionOrNone(o.decision()); err != nil {
		return nil, err
	}
	save := func(path string) (string, error) { return state.Save(path, model.Save) }
	return &trained{models.Networks(model), save, model.Proportions, said}, nil
}

// column is that of the vectors to train on. A mixture is fitted where the paper's
// Algorithm 2 fits it: in the latent space, if there is one.
func (o Options) column(r *stream.Rows) string {
	switch {
	case o.Method == translate.Method || o.Method == hedge.Method || o.Method == unmix.Method:
		return r.Vectors()
	case o.Method == gmmot.Method && r.Has(r.Columns.Embedding):
		return r.Columns.Embedding
	}
	return r.Columns.Features
}

func (o Options) decision() string {
	switch {
	case o.Decision != "":
		return o.Decision
	case o.Method == translate.Method || o.Method == selftrain.Method || o.Method == hedge.Method:
		return labelshift.Accuracy.String()
	}
	return "none"
}

// trained is a model with what is said of it.
type trained struct {
	model       *models.Labeller
	save        func(path string) (string, error)
	proportions []float64 // the estimate of p_T; nil if there is none
	diagnostics *diagnostics.Diagnostics
}

// Save keeps the model.
func (t *trained) Save(path string) (string, error) { return t.save(path) }

// Emit labels rows with the model. The diagnostics become the stream's, and so
// does the estimate of p_T.
func (t *trained) Emit(ctx context.Context, r *stream.Rows, out arrowio.Sink) error {
	meta, err := r.Meta()
	if err != nil {
		return err
	}
	meta.Diagnostics = t.diagnostics.JSON()
	if t.proportions != nil {
		meta.TargetProportions = t.proportions
	}
	return t.model.Emit(ctx, r, out, meta)
}

// keep saves the model that a training which diverged has left, and says which it is.
func keep(model *adapt.Model, path string, cause error) error {
	var diverged *adapt.DivergedError
	if model == nil || path == "" || !errors.As(cause, &diverged) {
		return cause
	}
	if diverged.LastGood < 0 {
		return fmt.Errorf("%w; no epoch went well, so no model is kept", cause)
	}
	if _, err := state.Save(path, model.Save); err != nil {
		return errors.Join(cause, err)
	}
	return fmt.Errorf("%w; the last good model, of epoch %d, is kept in %s", cause, diverged.LastGood+1, path)
}

// learn trains by the method.
func learn(ctx context.Context, r *stream.Rows, o Options) (*adapt.Model, *diagnostics.Diagnostics, error) {
	fit := fitAligned
	switch o.Method {
	case translate.Method:
		fit = fitTranslated
	case selftrain.Method:
		fit = fitSelfTrained
	}
	job, err := fit(ctx, r, o)
	if err != nil {
		return nil, nil, err
	}
	if o.Augment != "" {
		if job.config.Augment, err = augment.Parse(o.Augment, job.problem.Shape); err != nil {
			return nil, nil, r.Fail(o.column(r), err, "")
		}
	}
	for _, tune := range o.Tune {
		tune(&job.config)
	}
	if o.Initial != "" {
		if job.config.Initial, _, err = models.LoadNetworks(o.Initial); err != nil {
			return nil, nil, err
		}
	}
	if n, batch := len(job.problem.Classes), job.config.Batch; batch < n && !o.trial {
		r.Logger().Warn(fmt.Sprintf("a batch of %d rows cannot have all %d classes: in each, those that it has weigh more for those that it lacks: give --batch %d or more", batch, n, n))
	}
	metrics, err := newMetrics(r.Env, o.Metrics, job.problem.Classes)
	if err != nil {
		return nil, nil, err
	}
	job.config.OnEpoch = metrics.epoch
	model, err := job.train(ctx, job.problem, job.config)
	if err := metrics.close(err); err != nil {
		return model, nil, err
	}
	if o.trial {
		return model, nil, nil
	}
	said, err := job.diagnose(ctx, r, model)
	return model, said, err
}

// A job is a training with all that it needs.
type job struct {
	problem     adapt.Problem
	config      adapt.Config
	train       func(context.Context, adapt.Problem, adapt.Config) (*adapt.Model, error)
	unmoved     blas32.General           // the source as it came, where the problem's has been moved
	diagnostics *diagnostics.Diagnostics // of the estimate of p_T; nil where none was made
}

// fitAligned is the job of the methods of adapt.
func fitAligned(ctx context.Context, r *stream.Rows, o Options) (*job, error) {
	method, err := adapt.ParseMethod(o.Method, o.Beta)
	if err != nil {
		return nil, err
	}
	p, s, err := gather(ctx, r, o, method.Aligns())
	if err != nil {
		return nil, err
	}
	c, err := adapt.Recipe(r.Arch(o.Arch), p.Shape, o.Schedule)
	if err != nil {
		return nil, err
	}
	c.ForRows(p.Source.Rows)
	c.SetMethod(method)
	c.Seed, c.Jobs = r.Seed, r.Jobs
	if o.AsPublishedCode {
		c.AsPublishedCode()
	}
	if method.NeedsEstimate() {
		start, err := o.start(r, s)
		if err != nil {
			return nil, err
		}
		if o.Method != "iw-wd" { // whose weights begin at 1
			c.StartProportions = start
		}
		if c.Estimate, err = o.estimator(r.Env, start, s); err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name(), err)
		}
		c.Estimated = o.estimated(start, s)
	}
	j := &job{problem: *p, config: c, train: adapt.Train}
	if method.NeedsEstimate() {
		j.diagnostics = &diagnostics.Diagnostics{Estimator: cmp.Or(o.Proportions, "mars")}
		if o.Method == "iw-wd" {
			j.diagnostics.Estimator = o.Method
		}
	}
	return j, nil
}

// gather turns the stream into a problem.
func gather(ctx context.Context, r *stream.Rows, o Options, target bool) (*adapt.Problem, *stream.Samples, error) {
	classes, err := r.Classes(ctx)
	if err != nil {
		return nil, nil, err
	}
	column := o.column(r)
	if !r.HoldOut(o.HoldOut) && o.needsHeldOut() {
		r.HoldOut(DefaultHoldOut)
	}
	s, err := r.Gather(ctx, classes, stream.Want{Vector: column, Source: true, Target: target, Labels: true, Start: true})
	if err != nil {
		return nil, nil, err
	}
	p := &adapt.Problem{Source: s.Source, Labels: s.Labels, Target: s.Target, Classes: classes}
	p.Shape, err = r.ShapeOf(column, s.Source.Cols)
	return p, s, err
}

// start is the p_T that training starts from: what the user states, or what earlier stages
// found; nil if nobody has said anything.
func (o Options) start(r *stream.Rows, s *stream.Samples) ([]float64, error) {
	if o.Given == nil {
		return startProportions(r, s)
	}
	return o.Given(s.Classes)
}

// startProportions is the p_T that earlier stages found: p_T(y) = w†(y) p_S(y)
// by the weights, or else the shares of matched; nil if there is neither.
func startProportions(r *stream.Rows, s *stream.Samples) ([]float64, error) {
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
				return nil, fmt.Errorf("%s: a target row was matched with class %d, and there are %d: run mars-match on this stream", r.Name(), k, len(p))
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
