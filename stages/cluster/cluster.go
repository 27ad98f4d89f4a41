// Package cluster is the stage that estimates a mixture of the target
// embeddings (Algorithm 2, line 1) and adds the component of every target row.
//
// Columns read: domain and embedding; to know the number of classes, the
// stream's metadata or the labels. Added: component, null on source rows.
package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/mixture"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/state"
	"mars.dev/mars/stages/internal/stream"
)

// Methods are the names of the ways to cluster.
var Methods = []string{"ward", "gmm", "kmeans"}

// Options of fitting.
type Options struct {
	Method     string // one of Methods
	Components int    // K; 0: the number of classes
	Covariance mixture.Covariance
	Starts     int     // initialisations; 0: the method's default
	Iterations int     // at most, a start; 0: the method's default
	Floor      float64 // of gmm's variances; 0: the method's default
	MaxRows    int     // more rows are clustered by a sample of this size; 0: the default
	Save       string  // state file to write; "" for none
}

// Fit clusters the target rows.
func Fit(o Options) stages.Func {
	return func(ctx context.Context, env stages.Env, in arrowio.Stream, out arrowio.Sink) error {
		if err := (&stream.Rows{Env: env, Stream: in}).Require(embedFirst, env.Columns.Embedding, env.Columns.Domain); err != nil {
			return err
		}
		return stream.Fit(ctx, env, in, out, o.Save, func(ctx context.Context, r *stream.Rows) (stream.State, error) {
			return learn(ctx, r, o)
		})
	}
}

const embedFirst = "run mars-embed before, or name a column of vectors with --embedding"

// fitted is the mixture of a stream's target rows.
type fitted struct {
	*mixture.Result
	method string
	meta   arrowio.Meta
}

func learn(ctx context.Context, r *stream.Rows, o Options) (*fitted, error) {
	f := &fitted{method: o.Method}
	var err error
	if f.meta, err = r.Meta(); err != nil {
		return nil, err
	}
	inferred := o.Components == 0 && f.meta.Classes == nil // then the labels are checked
	k, err := f.components(ctx, r, o.Components)
	if err != nil {
		return nil, err
	}
	s, err := r.Gather(ctx, f.meta.Classes, stream.Want{Vector: r.Columns.Embedding, Target: true, Labels: inferred})
	if err != nil {
		return nil, err
	}
	if f.Result, err = fitMixture(ctx, s.Target, k, o, r.Seed); err != nil {
		return nil, r.Fail(r.Columns.Embedding, err, "")
	}
	f.meta.Diagnostics = (&diagnostics.Diagnostics{Mixture: f.describe(r.Env)}).JSON()
	return f, nil
}

// components returns K: the number asked for, or the number of classes.
func (f *fitted) components(ctx context.Context, r *stream.Rows, asked int) (int, error) {
	if asked > 0 {
		return asked, nil
	}
	const advice = "say how many components there are with --components"
	if f.meta.Classes == nil {
		if err := r.Require(advice, r.Columns.Label); err != nil {
			return 0, err
		}
	}
	var err error
	if f.meta.Classes, err = r.Classes(ctx); err != nil {
		return 0, err
	}
	if len(f.meta.Classes) == 0 {
		return 0, r.Fail("", errors.New("no row has a label, so the number of classes is unknown"), advice)
	}
	return len(f.meta.Classes), nil
}

// Emit gives the target rows that were clustered their components.
func (f *fitted) Emit(ctx context.Context, r *stream.Rows, out arrowio.Sink) error {
	labels := f.Labels
	return emit(ctx, r, out, f.meta, f.Dim(), func(_ context.Context, dst []int32, _ blas32.General) error {
		copy(dst, labels)
		labels = labels[len(dst):]
		return nil
	})
}

func fitMixture(ctx context.Context, x blas32.General, k int, o Options, seed uint64) (*mixture.Result, error) {
	if limit := cmp.Or(o.MaxRows, mixture.DefaultMaxRows); k > limit {
		return nil, fmt.Errorf("%d components of %d rows at most: raise --max-rows", k, limit)
	}
	switch o.Method {
	case "ward":
		return mixture.Ward(ctx, x, k, mixture.WardOptions{MaxRows: o.MaxRows, Seed: seed})
	case "gmm":
		return mixture.GMM(ctx, x, k, mixture.GMMOptions{Covariance: o.Covariance, Starts: o.Starts,
			MaxIterations: o.Iterations, Floor: o.Floor, MaxRows: o.MaxRows, Seed: seed})
	case "kmeans":
		return mixture.KMeans(ctx, x, k, mixture.KMeansOptions{Starts: o.Starts, MaxIterations: o.Iterations, MaxRows: o.MaxRows, Seed: seed})
	}
	return nil, fmt.Errorf("there is no method %q", o.Method)
}

// describe tells the user of the mixture and returns its part of the diagnostics.
func (f *fitted) describe(env stages.Env) *diagnostics.Clustering {
	log, n := env.Logger(), len(f.Labels)
	var details []any
	if f.Iterations > 0 {
		details = append(details, "iterations", f.Iterations, "converged", f.Converged)
	}
	log.Info(fmt.Sprintf("%s: %d components of %d target rows, shares %.3f", f.method, f.K(), n, f.Proportions), details...)
	if f.Sampled() {
		log.Warn(fmt.Sprintf("a sample of %d rows was clustered and the other %d were assigned to it; --max-rows %d clusters all", f.Fitted, n-f.Fitted, n))
	}
	part := diagnostics.NewClustering(f.method, f.Result)
	diagnostics.LogPart(env, part)
	return part
}

// Apply gives rows the components of a state saved by Fit, in constant memory.
func Apply(path string) stages.Func {
	return func(ctx context.Context, env stages.Env, in arrowio.Stream, out arrowio.Sink) error {
		r := &stream.Rows{Env: env, Stream: in}
		if err := r.Require(embedFirst, env.Columns.Embedding); err != nil {
			return err
		}
		components, sum, err := load(path)
		if err != nil {
			return err
		}
		assigner, err := components.Assigner(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w: save it again", path, err)
		}
		r.KeepState(path, sum)
		meta, err := r.Meta()
		if err != nil {
			return err
		}
		return emit(ctx, r, out, meta, components.Dim(), assigner.Assign)
	}
}

// Save keeps a row a component: its share, mean and, for Gaussians, weight and
// covariance (d×d row-major, d, or 1 number: see mixture.Components).
func (f *fitted) Save(path string) (string, error) {
	t := state.NewTable("cluster", f.K())
	t.SetMeta("mars.cluster.method", f.method)
	t.SetMeta("mars.cluster.rows", strconv.Itoa(len(f.Labels)))
	ids := make([]int32, f.K())
	means := make([][]float64, f.K())
	for k := range ids {
		ids[k] = int32(k)
		means[k] = f.Means.RawRowView(k)
	}
	t.AddInts("component", ids)
	t.AddFloats("proportion", f.Proportions)
	t.AddVectors("mean", means)
	if f.Covariances != nil {
		t.AddFloats("weight", f.Weights)
		t.AddVectors("covariance", f.Covariances)
	}
	return t.Save(path)
}

func load(path string) (*mixture.Components, string, error) {
	t, sum, err := state.LoadTable(path, "cluster")
	if err != nil {
		return nil, "", err
	}
	c, err := t.Components()
	return &c, sum, err
}

// emit passes all rows on with the components that assign gives to target rows.
// Embeddings have width numbers.
func emit(ctx context.Context, r *stream.Rows, out arrowio.Sink, meta arrowio.Meta, width int, assign func(context.Context, []int32, blas32.General) error) error {
	field := arrow.Field{Name: r.Columns.Component, Type: arrow.PrimitiveTypes.Int32, Nullable: true}
	return r.Emit(ctx, out, meta, stream.Added{Fields: []arrow.Field{field}, Of: func(rec arrow.Record) ([]arrow.Array, error) {
		domains, err := r.Domains(rec)
		if err != nil {
			return nil, err
		}
		x, err := arrowio.VectorColumnWithGaps(rec, r.Columns.Embedding)
		if err != nil {
			return nil, err
		}
		if x.Rows > 0 && x.Width != width {
			return nil, r.Fail(r.Columns.Embedding, fmt.Errorf("rows have %d numbers, and the components %d", x.Width, width),
				"embed these rows with the model that the components were fitted on")
		}
		var target blas32.General
		valid := make([]bool, len(domains))
		for i, d := range domains {
			if d == arrowio.TargetDomain && !x.Missing(i) {
				valid[i] = true
				stream.AppendRow(&target, x.Row(i))
			}
		}
		found := make([]int32, target.Rows)
		if target.Rows > 0 {
			if err := assign(ctx, found, target); err != nil {
				return nil, err
			}
		}
		values := make([]int32, len(domains))
		for i, next := 0, 0; i < len(values); i++ {
			if valid[i] {
				values[i] = found[next]
				next++
			}
		}
		return []arrow.Array{arrowio.NewIntArray(values, valid)}, nil
	}})
}
