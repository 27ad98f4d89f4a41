package translate

import (
	"context"
	"fmt"
	"strconv"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/labelshift"
)

// Classifier is what the estimators of proportions train: the network and
// schedule of Config on the rows that they give.
func Classifier(seed uint64, jobs int) labelshift.Classifier {
	return func(ctx context.Context, x blas32.General, labels []int32) (labelshift.Posterior, error) {
		c, err := Config("auto", []int{x.Cols}, x.Rows)
		if err != nil {
			return nil, err
		}
		c.Seed, c.Jobs = seed, jobs
		m, err := adapt.Train(ctx, adapt.Problem{Source: x, Labels: labels, Classes: numbered(labels)}, c)
		if err != nil {
			return nil, err
		}
		return func(x blas32.General) (blas32.General, error) { return m.Predict(x), nil }, nil
	}
}

// numbered names the classes by their numbers.
func numbered(labels []int32) []string {
	var names []string
	for _, label := range labels {
		for len(names) <= int(label) {
			names = append(names, strconv.Itoa(len(names)))
		}
	}
	return names
}

// steps is how many optimiser steps a classifier is trained for, where that is
// from minEpochs to maxEpochs passes over its rows.
const (
	steps     = 1000
	minEpochs = 5
	maxEpochs = 100
)

// Config returns the settings of a classifier that is trained on n rows of the
// shape without adaptation: a network of the architecture (see
// adapt.Config.Arch; auto is the same d→100→100→100→C for all plain columns),
// standardised inputs but for images, Adam, and a number of epochs by n.
func Config(arch string, shape []int, n int) (adapt.Config, error) {
	if arch == "auto" && len(shape) == 1 {
		arch = fmt.Sprintf("mlp:%d-100-100", shape[0])
	}
	c, err := adapt.Recipe(arch, shape, adapt.ScheduleDefault)
	if err != nil {
		return c, err
	}
	if len(shape) == 1 {
		c.Input = adapt.InputStandard
	}
	c.Optimiser, c.LearningRate, c.Beta1, c.Momentum = adapt.Adam, 1e-3, 0.9, 0
	c.SetEpochs(max(minEpochs, min(maxEpochs, (steps*c.Batch+n-1)/n)))
	return c, nil
}
