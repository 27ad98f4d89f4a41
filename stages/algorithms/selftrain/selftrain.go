package selftrain

import (
	"context"
	"fmt"
	"slices"

	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/augment"
)

// Method is what the method is called, in models too.
const Method = adapt.SelfTraining

// The measured schedule, in epochs of iterations steps.
const (
	epochs     = 24
	iterations = 90
	startAlign = 8
)

// Config returns the settings for rows of the shape, and a network of the architecture (see
// adapt.Config.Arch; auto is one with group norms for images).
func Config(arch string, shape []int) (adapt.Config, error) {
	if arch == "auto" || arch == "" {
		arch = network(shape)
	}
	c, err := adapt.Recipe(arch, shape, adapt.ScheduleDefault)
	if err != nil {
		return c, err
	}
	if c.Method, err = adapt.ParseMethod(Method, 0); err != nil {
		return c, err
	}
	if c.Augment, err = augment.Parse("auto", shape); err != nil {
		return c, err
	}
	c.Epochs, c.Iterations, c.StartAlign, c.ReestimateEvery = epochs, iterations, startAlign, 1
	c.Batch, c.TargetShare = 128, 0.625
	c.Optimiser, c.LearningRate, c.Beta1, c.Momentum = adapt.Adam, 3e-3, 0.9, 0
	c.SmoothRates, c.WarmUp, c.Decay, c.DecayFrom = true, 0.05*epochs, 0, epochs/2
	c.AverageFrom, c.AverageDecay = 0, 0.98
	c.ClassLoss, c.Sampling, c.Input = adapt.ClassLossBalanced, adapt.SamplingBalanced, adapt.InputRow
	if len(shape) != 3 {
		c.Input, c.LearningRate = adapt.InputStandard, 1e-3
	}
	c.Relabel = Label
	return c, nil
}

// minSide is the side of an image from which two 5×5 convolutions leave enough of it.
const minSide = 20

// network is the first architecture that fits rows of the shape.
func network(shape []int) string {
	if len(shape) == 3 {
		names := []string{"digits-gn", "resnet8"}
		if min(shape[1], shape[2]) < minSide {
			slices.Reverse(names)
		}
		for _, name := range names {
			if _, err := adapt.Recipe(name, shape, adapt.ScheduleDefault); err == nil {
				return name
			}
		}
	}
	width := 1
	for _, n := range shape {
		width *= n
	}
	return fmt.Sprintf("mlp:%d-100-100", width)
}

// Train trains as c says (see Config). The model's posteriors carry equal proportions
// (Model.Prior), and Model.Proportions are the target's. Errors are those of adapt.Train,
// with which there is no report.
func Train(ctx context.Context, p adapt.Problem, c adapt.Config) (*adapt.Model, *Report, error) {
	m, err := adapt.Train(ctx, p, c)
	if m == nil || err != nil {
		return m, nil, err
	}
	last, corrected, err := label(ctx, m.Predict(p.Target), m.Prior)
	if err != nil {
		return m, nil, err
	}
	m.Proportions = last.Proportions
	return m, newReport(m, p.Target, c.Augment, last, corrected), nil
}
