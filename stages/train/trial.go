package train

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/validate"
	"mars.dev/mars/stages/internal/models"
	"mars.dev/mars/stages/internal/stream"
)

// heldOutOf is how many source rows of a class there are to one that candidates are not
// trained on, where the stream does not say which these are.
const heldOutOf = 5

// trials train candidates on the rows of a stream, and score them.
type trials struct {
	env   stages.Env
	spool *arrowio.Spool
	data  map[string]*stream.Samples // by column of vectors

	saidFew bool // that importance rests on few rows, which is so for all candidates
}

// score trains by the options and scores that. An error is not the candidate's.
func (t *trials) score(ctx context.Context, o Options, names []string) (result outcome, err error) {
	o.trial, o.Save, o.Metrics = true, "", ""
	env := t.quiet(o)
	column := o.column(&stream.Rows{Env: env, Stream: t.spool})
	rows, err := t.gather(ctx, env, column)
	if err != nil {
		return result, err
	}
	failed := func(err error) (outcome, error) {
		if ctx.Err() != nil {
			return outcome{}, ctx.Err()
		}
		return outcome{failed: err}, nil
	}
	s, err := t.train(ctx, env, o, column, rows)
	if err != nil {
		return failed(err)
	}
	result.scores, result.lacks = map[string]float64{}, lacking(s.TargetPosteriors, rows.Classes)
	for i, name := range names {
		switch v, err := s.Score(ctx, name); {
		case err == nil:
			result.scores[name] = v
		case i == 0 || ctx.Err() != nil:
			return failed(err)
		default:
			t.env.Logger().Warn(err.Error())
		}
	}
	if s.Effective > 0 && s.Effective < fewEffective && !t.saidFew {
		t.saidFew = true
		t.env.Logger().Warn(fmt.Sprintf("the score importance rests on %.1f rows: the source has hardly any where the target is, or there are too many columns", s.Effective))
	}
	return result, nil
}

// fewEffective is how few rows make a score of little worth.
const fewEffective = 30.0

// quiet is the surroundings of a candidate's training, which says nothing.
func (t *trials) quiet(o Options) stages.Env {
	env := t.env
	env.Log, env.Progress, env.Step = nil, nil, arrowio.Step{}
	if o.Shape != nil {
		env.Shape = o.Shape
	}
	return env
}

// gather reads the rows of a column, those of the source that are held out apart.
func (t *trials) gather(ctx context.Context, env stages.Env, column string) (*stream.Samples, error) {
	if s := t.data[column]; s != nil {
		return s, nil
	}
	if err := t.spool.Rewind(); err != nil {
		return nil, err
	}
	r := &stream.Rows{Env: env, Stream: t.spool}
	classes, err := r.Classes(ctx)
	if err != nil {
		return nil, err
	}
	want := stream.Want{Vector: column, Source: true, Target: true, Labels: true, Start: true}
	if !r.HoldOut(0) {
		r.HoldOut(heldOutOf)
	}
	s, err := r.Gather(ctx, classes, want)
	if err == nil && s.Held.Rows == 0 { // the column unseen marks none
		if err = t.spool.Rewind(); err == nil {
			r.HoldOut(heldOutOf)
			s, err = r.Gather(ctx, classes, want)
		}
	}
	if err != nil {
		return nil, err
	}
	t.data[column] = s
	return s, nil
}

// train trains on the source without the rows held out, and says all that scores ask of that.
func (t *trials) train(ctx context.Context, env stages.Env, o Options, column string, rows *stream.Samples) (*validate.Subject, error) {
	there := made{samples: rows, column: column, source: rows.Source, labels: rows.Labels, target: rows.Target, classes: rows.Classes}
	if rows.SourceWeight != nil || len(rows.TargetMatched.Values) > 0 {
		start, err := startProportions(&stream.Rows{Env: env, Stream: t.spool}, rows)
		if err != nil {
			return nil, err
		}
		there.start = start
	}
	model, err := t.fit(ctx, env, o, there)
	if err != nil {
		return nil, err
	}
	s := &validate.Subject{Source: rows.Source, Labels: rows.Labels, Held: rows.Held, HeldLabels: rows.HeldLabels, Target: rows.Target, Embed: model.Embed, Seed: env.Seed}
	if _, s.TargetPosteriors, err = model.Label(ctx, rows.Target); err != nil {
		return nil, err
	}
	if _, s.HeldPosteriors, err = model.Label(ctx, rows.Held); err != nil {
		return nil, err
	}
	s.Predict = func(ctx context.Context, x blas32.General) ([]int32, error) {
		_, p, err := model.Label(ctx, x)
		return adapt.Argmax(p), err
	}
	var back, held []int32
	s.Back = func(ctx context.Context) ([]int32, []int32, error) {
		if back == nil {
			found, err := t.back(ctx, env, o, there, adapt.Argmax(s.TargetPosteriors))
			if err != nil {
				return nil, nil, err
			}
			back, held = found[:rows.Source.Rows], found[rows.Source.Rows:]
		}
		return back, held, nil
	}
	return s, nil
}

// back trains from the target with its labels to the source, and returns the labels that the
// rows trained on and those held out get.
func (t *trials) back(ctx context.Context, env stages.Env, o Options, there made, labels []int32) ([]int32, error) {
	held := there.samples.Held
	return validate.Back(labels, there.source.Rows+held.Rows, func(labels, classes []int32) ([]int32, error) {
		shares := make([]float64, len(classes))
		for _, y := range there.labels {
			if at, ok := slices.BinarySearch(classes, y); ok {
				shares[at] += 1 / float64(len(there.labels))
			}
		}
		here := made{samples: there.samples, column: there.column, source: there.target, labels: labels, target: there.source}
		for _, k := range classes {
			here.classes = append(here.classes, there.classes[k])
		}
		if there.start != nil { // who knows where the target's proportions lie knows the source's
			here.start = shares
		}
		if o.Given != nil {
			total := 0.0
			for _, p := range shares {
				total += p
			}
			for k := range shares {
				shares[k] /= max(total, 1/float64(len(there.labels)))
			}
			o.Given = func([]string) ([]float64, error) { return shares, nil }
		}
		model, err := t.fit(ctx, env, o, here)
		if err != nil {
			return nil, fmt.Errorf("trained back from the target's labels: %w", err)
		}
		_, p, err := model.Label(ctx, there.source)
		if err != nil {
			return nil, err
		}
		found := adapt.Argmax(p)
		if _, p, err = model.Label(ctx, held); err != nil {
			return nil, err
		}
		return append(found, adapt.Argmax(p)...), nil
	})
}

// fit trains on rows that were made.
func (t *trials) fit(ctx context.Context, env stages.Env, o Options, rows made) (*models.Labeller, error) {
	in, err := rows.stream(t.spool, env)
	if err != nil {
		return nil, err
	}
	spool := arrowio.NewSpool(in, 0)
	defer spool.Close()
	trained, err := fit(ctx, &stream.Rows{Env: env, Stream: spool}, o)
	if err != nil {
		return nil, err
	}
	return trained.model, nil
}

// made are rows to train on that were made of those of a stream.
type made struct {
	samples        *stream.Samples
	column         string
	source, target blas32.General
	labels         []int32 // of source
	classes        []string
	start          []float64 // p_T that earlier stages found; nil if none did
}

// stream has the columns that training reads, and the metadata of the stream of which the rows
// were made.
func (m made) stream(of arrowio.Stream, env stages.Env) (*arrowio.Batches, error) {
	meta, err := arrowio.ReadMeta(of.Schema())
	if err != nil {
		return nil, err
	}
	meta.Classes, meta.SourceProportions, meta.TargetProportions, meta.Diagnostics = m.classes, nil, nil, nil
	c := env.Columns
	vectors := arrow.Field{Name: m.column, Type: arrowio.VectorType(m.source.Cols)}
	for _, i := range of.Schema().FieldIndices(m.column) {
		vectors.Metadata = of.Schema().Field(i).Metadata
	}
	fields := []arrow.Field{vectors, {Name: c.Domain, Type: arrow.BinaryTypes.String}, {Name: c.Label, Type: arrow.PrimitiveTypes.Int32, Nullable: true}}
	if m.start != nil {
		fields = append(fields, arrow.Field{Name: c.Weight, Type: arrow.PrimitiveTypes.Float32})
	}
	schema := meta.Apply(arrow.NewSchema(fields, nil))
	none := arrowio.NewIntArray(make([]int32, m.target.Rows), make([]bool, m.target.Rows))
	return arrowio.NewBatches(of.Name(), schema,
		batch(schema, m.source, arrowio.SourceDomain, arrowio.NewIntArray(m.labels, nil), m.weights()),
		batch(schema, m.target, arrowio.TargetDomain, none, slices.Repeat([]float32{1}, m.target.Rows))), nil
}

// weights are w(y) = p_T(y)/p_S(y) of the source rows; nil if no p_T is known.
func (m made) weights() []float32 {
	if m.start == nil {
		return nil
	}
	p := stream.Shares(stream.Counts(m.labels, len(m.classes)))
	weights := make([]float32, len(m.labels))
	for i, y := range m.labels {
		weights[i] = float32(m.start[y] / p[y])
	}
	return weights
}

// batch are rows x of a domain, with weights where the schema has them.
func batch(schema *arrow.Schema, x blas32.General, domain arrowio.Domain, labels arrow.Array, weights []float32) arrow.Record {
	columns := []arrow.Array{
		arrowio.NewVectorArray(arrowio.Vectors{Data: x.Data[:x.Rows*x.Cols], Rows: x.Rows, Width: x.Cols}),
		arrowio.NewDomainArray(slices.Repeat([]arrowio.Domain{domain}, x.Rows)),
		labels,
	}
	if schema.NumFields() > len(columns) {
		columns = append(columns, arrowio.NewFloatArray(weights))
	}
	return array.NewRecord(schema, columns, int64(x.Rows))
}

// lacking are the classes that no row has the greatest posterior of.
func lacking(posteriors blas32.General, classes []string) (names []string) {
	for k, n := range stream.Counts(adapt.Argmax(posteriors), len(classes)) {
		if n == 0 {
			names = append(names, strconv.Quote(classes[k]))
		}
	}
	return names
}
