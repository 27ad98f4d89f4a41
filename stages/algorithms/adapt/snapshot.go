package adapt

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// estimationDue reports whether p_T is to be estimated before this epoch.
func (t *trainer) estimationDue() bool {
	if !t.aligned || t.config.Method.weights == weightsUniform {
		return false
	}
	return (t.epoch-t.config.StartAlign)%t.config.ReestimateEvery == 0
}

// reestimate estimates p_T on the current embedding.
func (t *trainer) reestimate(ctx context.Context) error {
	seen := t.snapshot()
	if t.config.FirstBatchTwice {
		seen = t.extract(seen)
	}
	p, err := t.config.Estimate(ctx, seen)
	if err == nil {
		err = checkProportions(p, len(t.problem.Classes))
	}
	if err != nil {
		return fmt.Errorf("estimating the target's proportions before epoch %d: %w", t.epoch+1, err)
	}
	t.proportions = append([]float64(nil), p...)
	return nil
}

// snapshot embeds both domains.
func (t *trainer) snapshot() Snapshot {
	if t.z.source.Data == nil {
		t.z.source = dense.New(t.problem.Source.Rows, t.g.Outputs)
		t.z.target = dense.New(t.problem.Target.Rows, t.g.Outputs)
	}
	m := &Model{networks: t.networks, input: t.input}
	m.EmbedInto(t.z.source, t.problem.Source)
	m.EmbedInto(t.z.target, t.problem.Target)
	posteriors := func(z blas32.General) func() blas32.General {
		return func() blas32.General {
			p := dense.New(z.Rows, t.h.Outputs)
			m.classifyInto(p, z)
			return p
		}
	}
	return Snapshot{
		Epoch: t.epoch, Classes: len(t.problem.Classes),
		Proportions: t.proportions, Estimates: (t.epoch - t.config.StartAlign) / t.config.ReestimateEvery,
		Source: t.z.source, Labels: t.problem.Labels, Target: t.z.target,
		Predict: m.Predict, SourcePosteriors: posteriors(t.z.source), TargetPosteriors: posteriors(t.z.target),
	}
}

// sumTolerance is how far proportions may be from summing to 1.
const sumTolerance = 1e-6

func checkProportions(p []float64, classes int) error {
	if len(p) != classes {
		return fmt.Errorf("%d proportions for %d classes", len(p), classes)
	}
	var sum float64
	for c, v := range p {
		if !(v >= 0 && v <= 1+sumTolerance) {
			return fmt.Errorf("the proportion of class %d is %g: want a number from 0 to 1", c, v)
		}
		sum += v
	}
	if math.Abs(sum-1) > sumTolerance {
		return fmt.Errorf("the proportions sum to %g, not 1", sum)
	}
	return nil
}
