// Package reweight is the stage that estimates the target's class proportions
// p_T and weights each source row by w†(y) = p_T(y)/p_S(y), so that the source
// has the class balance of the target (Algorithm 2, line 4; equation (3)).
//
// Columns read: domain, label and, by the estimator, matched, probability
// and unseen, embedding (features where there is none) or, for oracle alone, truth.
// Added: weight, 1 on target rows.
package reweight

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/state"
	"mars.dev/mars/stages/internal/stream"
)

// Estimators are the names of the ways to p_T: those of labelshift, which takes
// proportions that others have found from the stream and the options.
func Estimators() []string {
	names := labelshift.Names(labelshift.Known, labelshift.Rows, labelshift.Posteriors)
	return slices.DeleteFunc(names, func(name string) bool { return name == "stream" })
}

// Options of reweighting.
type Options struct {
	// Estimator is one of Estimators. mars counts the target rows by the class
	// that their component was matched with; plan takes what mars-match worked
	// out from its transport plan, which differs where there are not as many
	// components as classes; given takes Proportions; oracle counts truth, to
	// see what perfect proportions would do.
	Estimator string
	// Calibration of posteriors before the estimator em; nil for none.
	Calibration *labelshift.Calibration
	// AllUnseen says that the posteriors of all source rows are those of classifiers that were
	// not trained on them. Else the column unseen says of which rows they are.
	AllUnseen bool
	// Proportions is p_T for given.
	Proportions func(classes []string) ([]float64, error)
	Shape       []int  // of a row of features; nil: what the stream says
	Save        string // state file to write; "" for none
}

// Fit estimates p_T and weights the source rows.
func Fit(o Options) stages.Func {
	return func(ctx context.Context, env stages.Env, in arrowio.Stream, out arrowio.Sink) error {
		if o.Shape != nil {
			env.Shape = o.Shape
		}
		r := &stream.Rows{Env: env, Stream: in}
		if err := r.Require("begin with mars-featurize", env.Columns.Domain, env.Columns.Label); err != nil {
			return err
		}
		if err := o.require(r); err != nil {
			return err
		}
		return stream.Fit(ctx, env, in, out, o.Save, func(ctx context.Context, r *stream.Rows) (stream.State, error) {
			w, err := learn(ctx, r, o)
			if err != nil {
				return nil, err
			}
			w.describe(r.Env)
			w.meta.Diagnostics = w.diagnose(r.Env)
			return w, nil
		})
	}
}

// require reports what the estimator needs and the stream lacks.
func (o Options) require(r *stream.Rows) error {
	needs, err := labelshift.NeedsOf(o.Estimator)
	switch c := r.Columns; {
	case err != nil:
		return err
	case needs == labelshift.Posteriors && o.fits(r):
		return nil
	case needs == labelshift.Posteriors:
		if err := r.Require("this estimator works on a classifier's posteriors: run mars-embed --hold-out 3 --save MODEL, mars-predict --model MODEL, then this", c.Probability); err != nil || o.AllUnseen || !o.needsUnseen() {
			return err
		}
		return r.Require("it says which source rows the classifier was not trained on, and on others it makes too few mistakes to correct anything by: "+
			"run mars-embed --hold-out 3 --save MODEL, mars-predict --model MODEL, then this, or give --all-unseen if it was trained on none of them", c.Unseen)
	case needs == labelshift.Rows:
		return r.Require("begin with mars-featurize", r.Vectors())
	case o.Estimator == "mars":
		return r.Require("run mars-match before, or choose another --estimator", c.Matched)
	case o.Estimator == "oracle":
		return r.Require("ask for it with mars-featurize --truth", c.Truth)
	}
	return nil
}

// needsUnseen reports whether the estimator looks at posteriors of source rows.
func (o Options) needsUnseen() bool {
	return labelshift.NeedsUnseen(o.Estimator) && (o.Estimator != "em" || o.Calibration != nil)
}

// weighting is what the stage learns: C numbers each.
type weighting struct {
	classes        []string
	source, target []float64 // p_S, p_T
	weights        []float64
	counts         []int                    // rows of the source; nil of a state that was loaded
	found          *diagnostics.Diagnostics // of the estimator
	meta           arrowio.Meta             // of the rows that were learnt from
}

func learn(ctx context.Context, r *stream.Rows, o Options) (*weighting, error) {
	meta, err := r.Meta()
	if err != nil {
		return nil, err
	}
	classes, err := r.Classes(ctx)
	if err != nil {
		return nil, err
	}
	c := counter{Rows: r, classes: classes, source: make([]int, len(classes)), target: make([]int, len(classes))}
	if err := r.Each(ctx, c.add); err != nil {
		return nil, err
	}
	w := &weighting{classes: classes, counts: c.source}
	if w.source, err = c.shares(c.source, arrowio.SourceDomain); err != nil {
		return nil, err
	}
	found, err := o.estimate(ctx, &c, meta)
	if err != nil {
		return nil, err
	}
	w.target, w.found = found.Proportions, diagnostics.OfEstimate(found)
	if w.weights, err = labelshift.Weights(w.target, w.source); err != nil {
		return nil, fmt.Errorf("%s: %w", r.Name(), err)
	}
	meta.Classes, meta.SourceProportions, meta.TargetProportions = classes, w.source, w.target
	w.meta = meta
	return w, nil
}

// counter counts rows by label and by matched class.
type counter struct {
	*stream.Rows
	classes        []string
	source, target []int
	unmatched      int
}

func (c *counter) add(rec arrow.Record) error {
	domains, err := c.Domains(rec)
	if err != nil {
		return err
	}
	labels, err := c.Labels(rec, domains, c.classes)
	if err != nil {
		return err
	}
	matched := arrowio.Ints{}
	if arrowio.HasColumn(rec.Schema(), c.Columns.Matched) {
		if matched, err = arrowio.LabelColumn(rec, c.Columns.Matched, c.classes); err != nil {
			return err
		}
	}
	for i, d := range domains {
		switch {
		case d == arrowio.SourceDomain:
			c.source[labels[i]]++
		case matched.Values == nil || matched.Null(i):
			c.unmatched++
		case matched.Values[i] < 0 || int(matched.Values[i]) >= len(c.classes):
			return c.Fail(c.Columns.Matched, fmt.Errorf("row %d of its batch was matched with class %d, and there are %d", i+1, matched.Values[i], len(c.classes)),
				"run mars-match on this stream")
		default:
			c.target[matched.Values[i]]++
		}
	}
	return nil
}

func (c *counter) shares(counts []int, domain arrowio.Domain) ([]float64, error) {
	total := 0
	for _, n := range counts {
		total += n
	}
	if total == 0 && domain == arrowio.TargetDomain && c.unmatched > 0 {
		return nil, c.Fail(c.Columns.Matched, errors.New("no target row was matched with a class"), "run mars-cluster and mars-match on this stream")
	}
	if total == 0 {
		return nil, c.EmptyDomain(domain)
	}
	if domain == arrowio.SourceDomain {
		if err := c.CheckClasses(c.classes, counts); err != nil {
			return nil, err
		}
	}
	return stream.Shares(counts), nil
}

func (w *weighting) describe(env stages.Env) {
	env.Logger().Info(fmt.Sprintf("p_S %s, p_T %s: weights %s", spelling.Numbers(w.source), spelling.Numbers(w.target), spelling.Numbers(w.weights)))
	for k, p := range w.target {
		if p == 0 {
			env.Logger().Warn(fmt.Sprintf("class %q has no share of the target, so its source rows have weight 0", w.classes[k]))
		}
	}
}

// diagnose tells the user of the estimate and its weights, and returns the
// stream's diagnostics with them.
func (w *weighting) diagnose(env stages.Env) json.RawMessage {
	w.found.Log(env)
	d := diagnostics.Read(w.meta).Estimated(w.found)
	d.Weights = diagnostics.NewWeights(w.classes, w.weights, w.counts)
	diagnostics.LogPart(env, d.Weights)
	return d.JSON()
}

// Save keeps a row a class.
func (w *weighting) Save(path string) (string, error) {
	t := state.NewTable("reweight", len(w.classes))
	t.AddStrings("class", w.classes)
	t.AddFloats("source_proportion", w.source)
	t.AddFloats("target_proportion", w.target)
	t.AddFloats("weight", w.weights)
	return t.Save(path)
}

// Apply weights source rows by a state saved by Fit, in constant memory.
func Apply(path string) stages.Func {
	return func(ctx context.Context, env stages.Env, in arrowio.Stream, out arrowio.Sink) error {
		r := &stream.Rows{Env: env, Stream: in}
		if err := r.Require("begin with mars-featurize", env.Columns.Domain, env.Columns.Label); err != nil {
			return err
		}
		w, sum, err := load(path)
		if err != nil {
			return err
		}
		r.KeepState(path, sum)
		if w.meta, err = r.Meta(); err != nil {
			return err
		}
		w.meta.Classes, w.meta.SourceProportions, w.meta.TargetProportions = w.classes, w.source, w.target
		w.meta.Diagnostics = diagnostics.Read(w.meta).Estimated(nil).JSON()
		return w.Emit(ctx, r, out)
	}
}

func load(path string) (*weighting, string, error) {
	t, sum, err := state.LoadTable(path, "reweight")
	if err != nil {
		return nil, "", err
	}
	w := &weighting{classes: t.Names("class"), source: t.Shares("source_proportion"), target: t.Shares("target_proportion"), weights: t.Floats("weight")}
	if err := t.Err(); err != nil {
		return nil, "", err
	}
	for k, v := range w.weights {
		if !(v >= 0 && v <= math.MaxFloat32) {
			return nil, "", fmt.Errorf("%s: the weight of class %q is %v: save it again", path, w.classes[k], v)
		}
	}
	return w, sum, nil
}

// Emit adds the weights to rows.
func (w *weighting) Emit(ctx context.Context, r *stream.Rows, out arrowio.Sink) error {
	field := arrow.Field{Name: r.Columns.Weight, Type: arrow.PrimitiveTypes.Float32}
	return r.Emit(ctx, out, w.meta, stream.Added{Fields: []arrow.Field{field}, Of: func(rec arrow.Record) ([]arrow.Array, error) {
		domains, err := r.Domains(rec)
		if err != nil {
			return nil, err
		}
		labels, err := r.Labels(rec, domains, w.classes)
		if err != nil {
			return nil, err
		}
		weights := make([]float32, len(domains))
		for i, d := range domains {
			weights[i] = 1
			if d == arrowio.SourceDomain {
				weights[i] = float32(w.weights[labels[i]])
			}
		}
		return []arrow.Array{arrowio.NewFloatArray(weights)}, nil
	}})
}
