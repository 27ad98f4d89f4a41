package adapt

import (
	"context"
	"fmt"
	"slices"

	"mars.dev/mars/stages/algorithms/internal/nn"
)

// Train trains the networks on the problem as the configuration says, and returns the
// model.
//
// Invalid data and settings are reported before training starts. If training breaks down
// (a loss or weight is not finite, or a loss explodes), Train returns the model of the last
// good epoch and a *DivergedError. If ctx ends, or OnEpoch, Estimate or writing a
// checkpoint fails, it returns that model and the error.
func Train(ctx context.Context, p Problem, c Config) (*Model, error) {
	if err := c.check(len(p.Classes)); err != nil {
		return nil, err
	}
	if err := p.check(c.Method); err != nil {
		return nil, err
	}
	arch, err := nn.ParseArch(c.Arch, p.shape(), len(p.Classes))
	if err != nil {
		return nil, &OptionError{err}
	}
	t, err := newTrainer(ctx, p, c, arch)
	if err != nil {
		return nil, err
	}
	defer t.pool.stop()
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
		t.criticDistance = nil
		if m.Aligned && t.config.Method.align == alignWasserstein {
			t.criticDistance = &m.CriticDistance
		}
		good = t.model(t.epoch)
		if err := t.report(m); err != nil {
			return good, err
		}
	}
	return good, nil
}

// report calls OnEpoch and writes a checkpoint if one is due.
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

// model returns a copy of the networks as they are now, averaged where averaging has begun.
func (t *trainer) model(epoch int) *Model {
	m := &Model{
		Classes: slices.Clone(t.problem.Classes), Method: t.config.Method.Name, Seed: t.config.Seed,
		Epoch: epoch, Prior: t.prior(), CriticDistance: t.criticDistance, FirstLabels: t.firstLabels, networks: t.networks, input: t.input,
	}
	if t.config.Method.weights != weightsUniform {
		m.Proportions = slices.Clone(t.proportions)
	}
	copies := make([]*nn.Network, len(networkNames))
	for i, l := range t.learners {
		copies[i] = l.net.Clone()
		copy(copies[i].Params, l.weights())
	}
	m.g, m.h, m.v = copies[0], copies[1], copies[2]
	return m
}
