package train

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/scale"
	"mars.dev/mars/stages/algorithms/wasserstein"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/stream"
)

// diagnose returns the diagnostics of the model: those of the stream, with
// the estimate of this training where it made one, the weights of the source
// that follow and the terms of Theorem 1.
func (j *job) diagnose(ctx context.Context, r *stream.Rows, model *adapt.Model) (*diagnostics.Diagnostics, error) {
	env := r.Env
	meta, err := r.Meta()
	if err != nil {
		return nil, err
	}
	d := diagnostics.Read(meta)
	d.Translation, d.Bound = nil, nil
	if j.diagnostics != nil {
		d = d.Estimated(j.diagnostics)
	}
	counts := stream.Counts(j.problem.Labels, len(j.problem.Classes))
	proportions, weights := stream.Shares(counts), []float64(nil)
	if model.Proportions != nil {
		if weights, err = labelshift.Weights(model.Proportions, proportions); err != nil {
			env.Logger().Info(fmt.Sprintf("no diagnostics of the training: %v", err))
			return d, nil
		}
		proportions = model.Proportions
		d.Weights = diagnostics.NewWeights(j.problem.Classes, weights, counts)
		diagnostics.LogPart(env, d.Weights)
	}
	if d.Translation = j.translation(ctx, env, proportions); d.Translation != nil {
		diagnostics.LogPart(env, d.Translation)
	}
	if d.Bound = j.bound(ctx, env, model, proportions, weights); d.Bound != nil {
		d.Bound.CriticDistance = model.CriticDistance
		diagnostics.LogPart(env, d.Bound)
	}
	return d, nil
}

// bound is the terms of Theorem 1 for the source with the weights of the
// classes, all 1 if nil; nil where the target was not looked at or cannot be
// measured.
func (j *job) bound(ctx context.Context, env stages.Env, model *adapt.Model, proportions, weights []float64) *diagnostics.Bound {
	p := j.problem
	if p.Target.Rows < 2 {
		return nil
	}
	embed := func(x blas32.General) (blas32.General, error) { return model.Embed(x), nil }
	distance, err := measure(ctx, p, wasserstein.Options{Seed: env.Seed, Space: embed}, proportions, p.Source)
	if err != nil {
		env.Logger().Info(fmt.Sprintf("no distance in the latent space: %v", err))
		return nil
	}
	b := diagnostics.NewBound(distance[0])
	b.MaxWeight = 1
	wrong, weight, total := 0, 0.0, 0.0
	for i, k := range adapt.Argmax(model.Predict(p.Source)) {
		w := 1.0
		if weights != nil {
			w = weights[p.Labels[i]]
			b.MaxWeight = max(b.MaxWeight, w)
		}
		total += w
		if k != p.Labels[i] {
			wrong, weight = wrong+1, weight+w
		}
	}
	b.SourceError, b.WeightedError = float64(wrong)/float64(p.Source.Rows), weight/total
	return b
}

// translation is how far the moved source is from the target, on columns
// standardised by the source as it came; nil if it was not moved.
func (j *job) translation(ctx context.Context, env stages.Env, proportions []float64) *diagnostics.Translation {
	if j.unmoved.Rows == 0 || j.problem.Target.Rows < 2 {
		return nil
	}
	standard, _, err := scale.Fit(ctx, j.unmoved)
	if err != nil {
		env.Logger().Info(fmt.Sprintf("no distance after translation: %v", err))
		return nil
	}
	standardise := func(x blas32.General) (blas32.General, error) { return x, standard.Apply(ctx, x) }
	d, err := measure(ctx, j.problem, wasserstein.Options{Seed: env.Seed, Space: standardise}, proportions, j.unmoved, j.problem.Source)
	if err != nil {
		env.Logger().Info(fmt.Sprintf("no distance after translation: %v", err))
		return nil
	}
	return diagnostics.NewTranslation(d[0], d[1])
}

// measure is how far each of the sources, whose rows have the problem's
// labels, is from its target.
func measure(ctx context.Context, p adapt.Problem, o wasserstein.Options, proportions []float64, sources ...blas32.General) ([]wasserstein.Distance, error) {
	reference, err := wasserstein.NewReference(ctx, p.Target, o)
	if err != nil {
		return nil, err
	}
	found := make([]wasserstein.Distance, len(sources))
	for i, source := range sources {
		if found[i], err = reference.To(ctx, source, p.Labels, proportions); err != nil {
			return nil, err
		}
	}
	return found, nil
}
