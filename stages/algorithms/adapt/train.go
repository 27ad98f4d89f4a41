package adapt

import (
	"context"
	"fmt"
	"math"
	"slices"

	"mars/stages/algorithms/internal/nn"
)

// Train adapts as the configuration says and returns the model.
//
// Data and settings that cannot be trained on are reported before training starts.
// When training breaks down (a loss or weight that is no number, or a loss that
// explodes) the model of the last good epoch is returned together with a
// *DivergedError; when ctx ends or OnEpoch, Estimate or writing a checkpoint fails,
// together with that error.
func Train(ctx context.Context, p Problem, c Config) (*Model, error) {
	if err := c.check(len(p.Classes)); err != nil {
		return nil, err
	}
	if err := p.check(c.Method); err != nil {
		return nil, err
	}
	arch, err := nn.ParseArch(c.Arch, p.shape(), len(p.Classes))
	if err != nil {
		return nil, err
	}
	t, err := newTrainer(p, c, arch)
	if err != nil {
		return nil, err
	}
	defer t.crew.dismiss()
	if c.ResumeFile != "" {
		if err := t.resume(c.ResumeFile); err != nil {
			return nil, err
		}
	}
	return t.train(ctx)
}

func (t *trainer) train(ctx context.Context) (*Model, error) {
	good := t.model(t.epoch - 1)
	for ; t.epoch < t.config.Epochs; t.epoch++ {
		m, err := t.runEpoch(ctx)
		if err != nil {
			return good, err
		}
		if reason := t.divergence(m); reason != "" {
			return good, &DivergedError{Epoch: t.epoch, LastGood: good.Epoch, Reason: reason}
		}
		good = t.model(t.epoch)
		if err := t.report(m); err != nil {
			return good, err
		}
	}
	return good, nil
}

// report hands out the figures and writes a checkpoint where one is due.
func (t *trainer) report(m EpochMetrics) error {
	if t.config.OnEpoch != nil {
		if err := t.config.OnEpoch(m); err != nil {
			return err
		}
	}
	done := t.epoch + 1
	if t.config.Checkpoint == nil || (done%t.config.CheckpointEvery != 0 && done != t.config.Epochs) {
		return nil
	}
	if err := t.config.Checkpoint(t.checkpoint); err != nil {
		return fmt.Errorf("adapt: checkpoint: %w", err)
	}
	return nil
}

// model copies the networks as they are now.
func (t *trainer) model(epoch int) *Model {
	m := &Model{
		Classes: slices.Clone(t.problem.Classes), Method: t.config.Method.Name, Seed: t.config.Seed,
		Epoch: epoch, Prior: t.prior(), networks: t.networks, input: t.input,
	}
	if t.config.Method.weights != weightsUniform {
		m.Proportions = slices.Clone(t.proportions)
	}
	copies := make([]*nn.Network, len(letters))
	for i, l := range t.learners {
		copies[i] = l.net.Clone()
		copy(copies[i].Params, l.weights())
	}
	m.g, m.h, m.v = copies[0], copies[1], copies[2]
	return m
}

// explosion is how many times its first value a loss may reach before training is
// held to have broken down: far above the swings of adversarial training.
const explosion = 1e4

// divergence says what broke down in an epoch, or nothing.
func (t *trainer) divergence(m EpochMetrics) string {
	if !finiteNumber(m.ClassLoss) || !finiteNumber(m.CriticDistance) || !finiteNumber(m.GradientPenalty) {
		return fmt.Sprintf("a loss is no finite number: class loss %g, critic distance %g, gradient penalty %g", m.ClassLoss, m.CriticDistance, m.GradientPenalty)
	}
	for i, net := range t.all() {
		if !finite(net.Params) {
			return fmt.Sprintf("a weight of network %s is no finite number", letters[i])
		}
	}
	if t.firstLoss == 0 {
		t.firstLoss = max(1, m.ClassLoss)
	}
	if m.ClassLoss > explosion*t.firstLoss {
		return fmt.Sprintf("the class loss exploded to %g", m.ClassLoss)
	}
	if m.GradientPenalty > explosion {
		return fmt.Sprintf("the gradient penalty exploded to %g", m.GradientPenalty)
	}
	return ""
}

func finiteNumber(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func (s sums) finite() bool {
	return finiteNumber(s.class) && finiteNumber(s.distance) && finiteNumber(s.penalty)
}

// Error names the epoch and what was seen.
func (e *DivergedError) Error() string {
	kept := fmt.Sprintf("the model of epoch %d is kept", e.LastGood)
	if e.LastGood < 0 {
		kept = "no epoch went well"
	}
	return fmt.Sprintf("adapt: training diverged in epoch %d: %s; %s: lower the learning rate or lambda", e.Epoch, e.Reason, kept)
}
