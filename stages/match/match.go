// Package match is the stage that finds which class each mixture component of
// the target is: optimal transport between the means, or the Gaussians, of the
// source's classes and of the components (Algorithm 2, lines 2 and 3).
//
// Columns read: domain, label, embedding and component. Added: matched, null on
// source rows and on target rows without a component (null or negative).
package match

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/transport"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/state"
	"mars.dev/mars/stages/internal/stream"
)

// Costs are the names of the distances between a class and a component: the
// squared one of their means, or the Bures–Wasserstein distance of the Gaussians
// with their means and covariances.
var Costs = []string{transport.Means, transport.Bures}

// Options of matching.
type Options struct {
	Cost string // one of Costs; "" is means
	Save string // state file to write; "" for none
}

// Fit matches components with classes.
func Fit(o Options) stages.Func {
	return func(ctx context.Context, env stages.Env, in arrowio.Stream, out arrowio.Sink) error {
		c := env.Columns
		if err := (&stream.Rows{Env: env, Stream: in}).Require("run mars-embed and mars-cluster before", c.Domain, c.Label, c.Embedding, c.Component); err != nil {
			return err
		}
		return stream.Fit(ctx, env, in, out, o.Save, func(ctx context.Context, r *stream.Rows) (stream.State, error) {
			return learn(ctx, r, o)
		})
	}
}

// matched is what the stage learns: a matching and the means of the classes.
type matched struct {
	*transport.Matching
	classes []string
	means   *mat.Dense // C×d
	meta    arrowio.Meta
}

func learn(ctx context.Context, r *stream.Rows, o Options) (*matched, error) {
	meta, err := r.Meta()
	if err != nil {
		return nil, err
	}
	classes, err := r.Classes(ctx)
	if err != nil {
		return nil, err
	}
	f := fitter{Rows: r, classes: classes, cost: cmp.Or(o.Cost, transport.Means)}
	if err := f.fit(ctx); err != nil {
		return nil, err
	}
	matching, err := f.match(ctx)
	if err != nil {
		return nil, err
	}
	if meta.Diagnostics, err = f.diagnose(ctx, meta, matching); err != nil {
		return nil, err
	}
	meta.Classes, meta.TargetProportions = classes, matching.Proportions
	meta.SourceProportions = stream.Shares(f.source.Counts)
	return &matched{matching, classes, f.source.Means, meta}, nil
}

// Emit gives rows the classes of their components.
func (m *matched) Emit(ctx context.Context, r *stream.Rows, out arrowio.Sink) error {
	return emit(ctx, r, out, m.meta, m.ClassOf)
}

// fitter sums up the moments of classes and components in memory that does not
// depend on the number of rows.
type fitter struct {
	*stream.Rows
	classes        []string
	cost           string
	width          int
	components     int
	sums           [2]sums // of source and target
	source, target transport.Moments
}

// sums are transport's Prototypes or Gaussians.
type sums interface {
	Add(ctx context.Context, x blas32.General, labels []int32) error
	Moments() transport.Moments
}

func (f *fitter) fit(ctx context.Context) error {
	if err := f.Each(ctx, f.measure); err != nil {
		return err
	}
	if f.components == 0 {
		return f.fail(errors.New("no target row has a component"), "run mars-cluster before")
	}
	if err := f.Rewind(); err != nil {
		return err
	}
	if err := f.begin(); err != nil {
		return err
	}
	if err := f.Each(ctx, func(rec arrow.Record) error { return f.add(ctx, rec) }); err != nil {
		return err
	}
	f.source, f.target = f.sums[0].Moments(), f.sums[1].Moments()
	if err := f.CheckClasses(f.classes, f.source.Counts); err != nil {
		return err
	}
	for k, n := range f.target.Counts {
		if n == 0 {
			return f.fail(fmt.Errorf("component %d of %d has no row, so it has no mean", k, f.components),
				"number components from 0 without gaps; with mars-cluster, ask for fewer --components")
		}
	}
	return nil
}

// maxCovariances is the greatest number of values of all covariances together: a
// gigabyte.
const maxCovariances = 1 << 27

// begin makes the sums that the cost takes.
func (f *fitter) begin() error {
	for i, n := range []int{len(f.classes), f.components} {
		f.sums[i] = transport.NewPrototypes(n, f.width)
		if f.cost == transport.Bures {
			f.sums[i] = transport.NewGaussians(n, f.width)
		}
	}
	if n := len(f.classes) + f.components; f.cost == transport.Bures && n*f.width*f.width > maxCovariances {
		return fmt.Errorf("%s: the cost bures takes %d covariances of %d×%d numbers: embed in fewer dimensions, or match by the cost means", f.Name(), n, f.width, f.width)
	}
	return nil
}

// match finds the classes of the components.
func (f *fitter) match(ctx context.Context) (*transport.Matching, error) {
	shares := stream.Shares(f.target.Counts)
	if f.cost == transport.Means {
		return transport.MatchPrototypes(ctx, f.source.Means, f.source.Counts, f.target.Means, shares)
	}
	cost, err := transport.BuresCost(ctx, f.source, f.target)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return transport.MatchCost(ctx, cost, f.source.Counts, shares)
}

// diagnose logs how good the matching is and returns the stream's diagnostics
// with it. Its only error is that of ctx.
func (f *fitter) diagnose(ctx context.Context, meta arrowio.Meta, m *transport.Matching) (json.RawMessage, error) {
	f.Logger().Info(fmt.Sprintf("%d components matched with %d classes: p_T %s", len(m.ClassOf), len(f.classes), spelling.Numbers(m.Proportions)))
	check, err := transport.NewCheck(ctx, m, f.source, f.target, f.cost)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		f.Logger().Info(fmt.Sprintf("the matching cannot be checked: %v", err))
	}
	part := diagnostics.NewMatching(f.cost, check, f.classes)
	diagnostics.LogPart(f.Env, part)
	d := diagnostics.Diagnostics{Mixture: diagnostics.Read(meta).Mixture, Matching: part}
	return d.JSON(), nil
}

// measure finds the number of components and the width of an embedding.
func (f *fitter) measure(rec arrow.Record) error {
	components, err := arrowio.IntColumn(rec, f.Columns.Component)
	if err != nil {
		return err
	}
	domains, err := f.Domains(rec)
	if err != nil {
		return err
	}
	for i, d := range domains {
		if d == arrowio.TargetDomain && !components.Null(i) {
			f.components = max(f.components, int(components.Values[i])+1)
		}
	}
	if f.components > maxComponents {
		return f.fail(fmt.Errorf("there is a component numbered %d", f.components-1), fmt.Sprintf("number components from 0, below %d", maxComponents))
	}
	if f.width > 0 || rec.NumRows() == 0 {
		return nil
	}
	vectors, err := arrowio.VectorColumnWithGaps(rec, f.Columns.Embedding)
	if err != nil {
		return err
	}
	f.width = vectors.Width
	return nil
}

// maxComponents bounds the size of the transport problem.
const maxComponents = 10_000

func (f *fitter) add(ctx context.Context, rec arrow.Record) error {
	domains, err := f.Domains(rec)
	if err != nil {
		return err
	}
	vectors, err := arrowio.VectorColumnWithGaps(rec, f.Columns.Embedding)
	if err != nil {
		return err
	}
	if vectors.Width != f.width && vectors.Rows > 0 {
		return f.fail(fmt.Errorf("embeddings of %d numbers follow some of %d", vectors.Width, f.width), "embed all rows with one model")
	}
	labels, err := f.Labels(rec, domains, f.classes)
	if err != nil {
		return err
	}
	components, err := arrowio.IntColumn(rec, f.Columns.Component)
	if err != nil {
		return err
	}
	classOf, componentOf := make([]int32, len(domains)), make([]int32, len(domains))
	for i, d := range domains {
		classOf[i], componentOf[i] = -1, -1
		if vectors.Missing(i) {
			continue
		}
		if d == arrowio.SourceDomain {
			classOf[i] = labels[i]
		} else if !components.Null(i) {
			componentOf[i] = components.Values[i]
		}
	}
	x := blas32.General{Rows: vectors.Rows, Cols: f.width, Stride: f.width, Data: vectors.Data}
	if err := f.sums[0].Add(ctx, x, classOf); err != nil {
		return err
	}
	return f.sums[1].Add(ctx, x, componentOf)
}

func (f *fitter) fail(err error, advice string) error {
	return f.Fail(f.Columns.Component, err, advice)
}

// Save keeps a row a class: its mean, p_T and its row of the transport plan.
func (m *matched) Save(path string) (string, error) {
	classes, means := m.classes, m.means
	t := state.NewTable("match", len(classes))
	t.SetMeta("mars.match.components", strconv.Itoa(len(m.ClassOf)))
	vectors, plan := make([][]float64, len(classes)), make([][]float64, len(classes))
	for k := range classes {
		vectors[k], plan[k] = means.RawRowView(k), m.Plan.RawRowView(k)
	}
	t.AddStrings("class", classes)
	t.AddFloats("proportion", m.Proportions)
	t.AddVectors("mean", vectors)
	t.AddVectors("plan", plan)
	return t.Save(path)
}

// Apply gives rows the classes of their components by a state saved by Fit, in
// constant memory.
func Apply(path string) stages.Func {
	return func(ctx context.Context, env stages.Env, in arrowio.Stream, out arrowio.Sink) error {
		r := &stream.Rows{Env: env, Stream: in}
		if err := r.Require("run mars-cluster --load before", env.Columns.Component); err != nil {
			return err
		}
		classes, plan, sum, err := load(path)
		if err != nil {
			return err
		}
		meta, err := r.Meta()
		if err != nil {
			return err
		}
		meta.Classes = classes
		r.KeepState(path, sum)
		return emit(ctx, r, out, meta, classOf(plan))
	}
}

// classOf is the class that most of each component's mass comes from.
func classOf(plan [][]float64) []int32 {
	classes := make([]int32, len(plan[0]))
	for j := range classes {
		for i := range plan {
			if plan[i][j] > plan[classes[j]][j] {
				classes[j] = int32(i)
			}
		}
	}
	return classes
}

func emit(ctx context.Context, r *stream.Rows, out arrowio.Sink, meta arrowio.Meta, classOf []int32) error {
	field := arrow.Field{Name: r.Columns.Matched, Type: arrow.PrimitiveTypes.Int32, Nullable: true}
	return r.Emit(ctx, out, meta, stream.Added{Fields: []arrow.Field{field}, Of: func(rec arrow.Record) ([]arrow.Array, error) {
		domains, err := r.Domains(rec)
		if err != nil {
			return nil, err
		}
		components, err := arrowio.IntColumn(rec, r.Columns.Component)
		if err != nil {
			return nil, err
		}
		class, valid := make([]int32, len(domains)), make([]bool, len(domains))
		for i, d := range domains {
			k := components.Values[i]
			if d == arrowio.SourceDomain || components.Null(i) || k < 0 {
				continue
			}
			if int(k) >= len(classOf) {
				return nil, r.Fail(r.Columns.Component, fmt.Errorf("row %d of its batch has component %d, and %d components were matched", i+1, k, len(classOf)),
					"give rows the components that the matching was made for")
			}
			class[i], valid[i] = classOf[k], true
		}
		return []arrow.Array{arrowio.NewIntArray(class, valid)}, nil
	}})
}

// LoadPlan reads the classes and the transport plan, classes × components, that Fit saved.
func LoadPlan(path string) (classes []string, plan [][]float64, err error) {
	classes, plan, _, err = load(path)
	return classes, plan, err
}

func load(path string) (classes []string, plan [][]float64, sum string, err error) {
	t, sum, err := state.LoadTable(path, "match")
	if err != nil {
		return nil, nil, "", err
	}
	plan, classes = t.Vectors("plan"), t.Names("class")
	if err := t.Err(); err != nil {
		return nil, nil, "", err
	}
	for _, row := range plan {
		for _, mass := range row {
			if mass < 0 || mass > 1+1e-9 {
				return nil, nil, "", fmt.Errorf("%s: its plan holds a mass of %v, want 0 to 1: save it again", path, mass)
			}
		}
	}
	return classes, plan, sum, nil
}
