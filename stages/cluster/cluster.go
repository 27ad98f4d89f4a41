// Package cluster is the stage that estimates a mixture of the target
// embeddings (Algorithm 2, line 1) and adds the component of every target row.
//
// Columns read: domain and embedding; to know the number of classes, the
// stream's metadata or the labels. Added: component, null on source rows.
package cluster

import (
	"cmp"
	"context"
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"mars/arrowio"
	"mars/stages"
	"mars/stages/cluster/mixture"
	"mars/stages/internal/rows"
	"mars/stages/internal/state"
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
	return func(ctx context.Context, env stages.Env, in arrowio.Source, out arrowio.Sink) error {
		if err := rows.Require(in, "run mars-embed before, or name a column of vectors with --embedding", env.Columns.Embedding, env.Columns.Domain); err != nil {
			return err
		}
		return rows.Fit(ctx, env, in, out, o.Save, func(spool *arrowio.Spool) (*rows.Learnt, error) {
			meta, fit, err := learn(ctx, env, spool, o)
			if err != nil {
				return nil, err
			}
			part := describe(env, fit, o)
			meta.Diagnostics = (&rows.Diagnostics{Mixture: part}).JSON()
			labels := fit.Labels
			return &rows.Learnt{
				Save: func(path string) (string, error) { return save(path, o, fit) },
				Emit: func(ctx context.Context, env stages.Env, in arrowio.Source, out arrowio.Sink) error {
					return emit(ctx, env, in, out, meta, fit.Dim(), func(dst []int32, _ blas32.General) {
						copy(dst, labels)
						labels = labels[len(dst):]
					})
				},
			}, nil
		})
	}
}

func learn(ctx context.Context, env stages.Env, in *arrowio.Spool, o Options) (arrowio.Meta, *mixture.Result, error) {
	meta, err := arrowio.ReadMeta(in.Schema())
	if err != nil {
		return meta, nil, err
	}
	k := o.Components
	if k == 0 {
		if meta.Classes == nil {
			if err := rows.Require(in, "say how many components there are with --components", env.Columns.Label); err != nil {
				return meta, nil, err
			}
		}
		if meta.Classes, err = rows.Classes(ctx, in, env); err != nil {
			return meta, nil, err
		}
		if k = len(meta.Classes); k == 0 {
			return meta, nil, fmt.Errorf("%s: no row has a label, so the number of classes is unknown: say how many components there are with --components", in.Name())
		}
	}
	s, err := rows.Gather(ctx, env, in, meta.Classes, rows.Want{Vector: env.Columns.Embedding, Target: true})
	if err != nil {
		return meta, nil, err
	}
	fit, err := fitMixture(s.Target, k, o, env.Seed)
	if err != nil {
		return meta, nil, &arrowio.Error{Input: in.Name(), Offset: -1, Batch: -1, Column: env.Columns.Embedding, Err: err}
	}
	return meta, fit, nil
}

func fitMixture(x blas32.General, k int, o Options, seed uint64) (*mixture.Result, error) {
	if limit := cmp.Or(o.MaxRows, mixture.DefaultMaxRows); k > limit {
		return nil, fmt.Errorf("%d components of %d rows at most: raise --max-rows", k, limit)
	}
	switch o.Method {
	case "ward":
		return mixture.Ward(x, k, mixture.WardOptions{MaxRows: o.MaxRows, Seed: seed})
	case "gmm":
		return mixture.GMM(x, k, mixture.GMMOptions{Covariance: o.Covariance, Starts: o.Starts,
			MaxIterations: o.Iterations, Floor: o.Floor, MaxRows: o.MaxRows, Seed: seed})
	case "kmeans":
		return mixture.KMeans(x, k, mixture.KMeansOptions{Starts: o.Starts, MaxIterations: o.Iterations, MaxRows: o.MaxRows, Seed: seed})
	}
	return nil, fmt.Errorf("there is no method %q", o.Method)
}

func describe(env stages.Env, fit *mixture.Result, o Options) *rows.Clustering {
	log := env.Logger()
	n := len(fit.Labels)
	what := fmt.Sprintf("%s: %d components of %d target rows, shares %.3f", o.Method, fit.K(), n, fit.Proportions)
	var details []any
	if fit.Iterations > 0 {
		details = append(details, "iterations", fit.Iterations, "converged", fit.Converged)
	}
	log.Info(what, details...)
	if fit.Sampled() {
		log.Warn(fmt.Sprintf("a sample of %d rows was clustered and the other %d were assigned to it; --max-rows %d clusters all", fit.Fitted, n-fit.Fitted, n))
	}
	part := rows.NewClustering(o.Method, fit)
	rows.LogPart(env, part)
	return part
}

// Apply gives rows the components of a state saved by Fit, in constant memory.
func Apply(path string) stages.Func {
	return func(ctx context.Context, env stages.Env, in arrowio.Source, out arrowio.Sink) error {
		if err := rows.Require(in, "run mars-embed before, or name a column of vectors with --embedding", env.Columns.Embedding); err != nil {
			return err
		}
		components, sum, err := load(path)
		if err != nil {
			return err
		}
		assigner, err := components.Assigner()
		if err != nil {
			return fmt.Errorf("%s: %w: save it again", path, err)
		}
		env.KeepState(path, sum)
		meta, err := arrowio.ReadMeta(in.Schema())
		if err != nil {
			return err
		}
		return emit(ctx, env, in, out, meta, components.Dim(), assigner.Assign)
	}
}

// save keeps a row a component: its share, mean and, for Gaussians, weight and
// covariance (d×d row-major, d, or 1 number: see mixture.Components).
func save(path string, o Options, fit *mixture.Result) (string, error) {
	t := state.NewTable("cluster", fit.K())
	t.SetMeta("mars.cluster.method", o.Method)
	t.SetMeta("mars.cluster.rows", strconv.Itoa(len(fit.Labels)))
	ids := make([]int32, fit.K())
	means := make([][]float64, fit.K())
	for k := range ids {
		ids[k] = int32(k)
		means[k] = fit.Means.RawRowView(k)
	}
	t.AddInts("component", ids)
	t.AddFloats("proportion", fit.Proportions)
	t.AddVectors("mean", means)
	if fit.Covariances != nil {
		t.AddFloats("weight", fit.Weights)
		t.AddVectors("covariance", fit.Covariances)
	}
	return t.Save(path)
}

func load(path string) (*mixture.Components, string, error) {
	t, sum, err := state.LoadTable(path, "cluster")
	if err != nil {
		return nil, "", err
	}
	c := &mixture.Components{}
	if c.Proportions, err = t.Floats("proportion"); err != nil {
		return nil, "", err
	}
	means, err := t.Vectors("mean")
	if err != nil {
		return nil, "", err
	}
	if len(means) == 0 || len(means[0]) == 0 {
		return nil, "", fmt.Errorf("%s: holds no component: save it again", path)
	}
	c.Means = mat.NewDense(len(means), len(means[0]), nil)
	for k, m := range means {
		c.Means.SetRow(k, m)
	}
	if t.Has("covariance") {
		if c.Weights, err = t.Floats("weight"); err != nil {
			return nil, "", err
		}
		if c.Covariances, err = t.Vectors("covariance"); err != nil {
			return nil, "", err
		}
	}
	return c, sum, nil
}

// emit passes all rows on with the components that assign gives target rows,
// whose embeddings are width numbers each.
func emit(ctx context.Context, env stages.Env, in arrowio.Source, out arrowio.Sink, meta arrowio.Meta, width int, assign func([]int32, blas32.General)) error {
	field := arrow.Field{Name: env.Columns.Component, Type: arrow.PrimitiveTypes.Int32, Nullable: true}
	return rows.Emit(ctx, env, in, out, meta, []arrow.Field{field}, func(rec arrow.Record) ([]arrow.Array, error) {
		domains, err := rows.Domains(rec, env)
		if err != nil {
			return nil, err
		}
		x, err := arrowio.VectorColumn(rec, env.Columns.Embedding)
		if err != nil {
			return nil, err
		}
		if x.Rows > 0 && x.Width != width {
			return nil, &arrowio.Error{Input: in.Name(), Offset: -1, Batch: -1, Column: env.Columns.Embedding,
				Err:    fmt.Errorf("rows have %d numbers, and the components %d", x.Width, width),
				Advice: "embed these rows with the model that the components were fitted on"}
		}
		var target blas32.General
		valid := make([]bool, len(domains))
		for i, d := range domains {
			if d == arrowio.TargetDomain {
				valid[i] = true
				rows.AppendRow(&target, x.Row(i))
			}
		}
		found := make([]int32, target.Rows)
		if target.Rows > 0 {
			assign(found, target)
		}
		values := make([]int32, len(domains))
		for i, next := 0, 0; i < len(values); i++ {
			if valid[i] {
				values[i] = found[next]
				next++
			}
		}
		return []arrow.Array{arrowio.NewIntArray(values, valid)}, nil
	})
}
