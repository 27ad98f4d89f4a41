package adapt

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// shape is the shape of a row: C, H, W or the number of columns.
func (p Problem) shape() []int {
	if len(p.Shape) > 0 {
		return p.Shape
	}
	return []int{p.Source.Cols}
}

// check returns an error if the data are invalid for the method.
func (p Problem) check(m Method) error {
	if p.Source.Rows == 0 {
		return errors.New("adapt: the source has no rows: nothing to train on")
	}
	if len(p.Classes) < 2 {
		return fmt.Errorf("adapt: the source has %d class: training needs at least two", len(p.Classes))
	}
	if err := p.checkLabels(); err != nil {
		return err
	}
	product := 1
	for _, k := range p.shape() {
		product *= k
	}
	if product != p.Source.Cols {
		return fmt.Errorf("adapt: rows of %d features do not have the shape %v", p.Source.Cols, p.Shape)
	}
	if err := checkFinite("source", p.Source); err != nil {
		return err
	}
	if p.Target.Rows == 0 {
		if m.Aligns() {
			return fmt.Errorf("adapt: the target has no rows: method %s aligns the domains: choose source, or give target rows", m.Name)
		}
		return nil
	}
	if p.Target.Cols != p.Source.Cols {
		return fmt.Errorf("adapt: source rows have %d features and target rows %d", p.Source.Cols, p.Target.Cols)
	}
	return checkFinite("target", p.Target)
}

func (p Problem) checkLabels() error {
	if len(p.Labels) != p.Source.Rows {
		return fmt.Errorf("adapt: %d labels for %d source rows", len(p.Labels), p.Source.Rows)
	}
	counts := make([]int, len(p.Classes))
	for i, y := range p.Labels {
		if y < 0 || int(y) >= len(p.Classes) {
			return fmt.Errorf("adapt: source row %d has label %d: want 0 to %d", i, y, len(p.Classes)-1)
		}
		counts[y]++
	}
	if c := slices.Index(counts, 0); c >= 0 {
		return fmt.Errorf("adapt: class %d (%s) has no source rows: leave it out, or give it some", c, p.Classes[c])
	}
	return nil
}

func checkFinite(name string, x blas32.General) error {
	if err := dense.CheckFinite(name, x, 0); err != nil {
		return fmt.Errorf("adapt: %w", err)
	}
	return nil
}

// An OptionError says that a setting is out of its range, whatever the data.
type OptionError struct{ error }

func (e *OptionError) Unwrap() error { return e.error }

// IsOption marks errors of options, rather than of data.
func (e *OptionError) IsOption() {}

// check returns an error if the settings are invalid.
func (c Config) check(classes int) error {
	if !slices.ContainsFunc(methods, func(m Method) bool { return m.Name == c.Method.Name }) {
		return errors.New("adapt: the method is not set: use ParseMethod")
	}
	if c.Method.NeedsEstimate() && c.Estimate == nil {
		return fmt.Errorf("adapt: method %s needs an estimator of target proportions", c.Method.Name)
	}
	if c.Method.SelfTrains() && c.Relabel == nil {
		return fmt.Errorf("adapt: method %s needs a labeller of target rows", c.Method.Name)
	}
	if c.StartProportions != nil {
		if err := checkProportions(c.StartProportions, classes); err != nil {
			return fmt.Errorf("adapt: the proportions to start from: %w", err)
		}
	}
	if err := errors.Join(c.checkNumbers(), c.checkChoices()); err != nil {
		return &OptionError{err}
	}
	return nil
}

func (c Config) checkNumbers() error {
	whole := []struct {
		name       string
		value, min int
	}{
		{"epochs", c.Epochs, 1}, {"start of alignment", c.StartAlign, 0}, {"epochs between estimates", c.ReestimateEvery, 1},
		{"critic steps", c.CriticSteps, 1}, {"batch", c.Batch, 2}, {"jobs", c.Jobs, 0},
		{"start of decay", c.DecayFrom, 0}, {"start of averaging", c.AverageFrom, 0},
		{"iterations", c.Iterations, 0},
	}
	for _, w := range whole {
		if w.value < w.min {
			return fmt.Errorf("adapt: %s %d: want at least %d", w.name, w.value, w.min)
		}
	}
	if !(c.TargetShare >= 0 && c.TargetShare < 1) {
		return fmt.Errorf("adapt: share %g of target rows in a batch: want 0 or more, and less than 1", c.TargetShare)
	}
	if c.Checkpoint != nil && c.CheckpointEvery < 1 {
		return fmt.Errorf("adapt: epochs between checkpoints %d: want at least 1", c.CheckpointEvery)
	}
	ranges := []struct {
		name          string
		value, lo, hi float64
	}{
		{"lambda", c.Lambda, 0, math.MaxFloat32}, {"gamma", c.Gamma, 0, math.MaxFloat32},
		{"learning rate", c.LearningRate, 0, math.MaxFloat32}, {"critic learning rate", c.CriticLearningRate, 0, math.MaxFloat32},
		{"decay", c.Decay, 0, 1}, {"momentum", c.Momentum, 0, 1}, {"beta1", c.Beta1, 0, 1}, {"beta2", c.Beta2, 0, 1},
		{"weight decay", c.WeightDecay, 0, math.MaxFloat32}, {"decay of the average", c.AverageDecay, 0, 1},
		{"warm-up", c.WarmUp, 0, math.MaxFloat32},
	}
	for _, r := range ranges {
		if !(r.value >= r.lo && r.value <= r.hi) {
			return fmt.Errorf("adapt: %s %g: want %g to %g", r.name, r.value, r.lo, r.hi)
		}
	}
	return nil
}

func (c Config) checkChoices() error {
	return errors.Join(
		oneOf("class loss", c.ClassLoss, ClassLossWeighted, ClassLossPlain, ClassLossBalanced),
		oneOf("penalty points", c.PenaltyPoints, PenaltyInterpolates, PenaltyAll),
		oneOf("batches", c.Batches, BatchesFresh, BatchesShared),
		oneOf("sampling", c.Sampling, SamplingStratified, SamplingShuffled, SamplingPublished, SamplingBalanced),
		oneOf("input", c.Input, InputAsIs, InputSymmetric, InputStandard, InputRow),
		oneOf("optimiser", c.Optimiser, SGD, Adam),
	)
}

func oneOf[T ~string](name string, value T, choices ...T) error {
	if slices.Contains(choices, value) {
		return nil
	}
	return fmt.Errorf("adapt: %s %q: want one of %q", name, value, choices)
}
