package adapt

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
)

// minPrior is the minimum of a class' prior. The posteriors of a class without weight in
// training are noise, which division by a smaller prior would magnify.
const minPrior = 1e-4

// Decide adjusts posteriors, n×C as Predict returns them, in place for the model's
// Decision: from the class proportions that they assume (Prior) to the target's
// (Proportions, or Prior if the method makes no estimate). Without a Decision it does
// nothing. With a Decision and no Prior it fails.
func (m *Model) Decide(posteriors blas32.General) error {
	prior, target, err := m.shares()
	if err != nil || m.Decision == nil {
		return err
	}
	return m.Decision.Adjust(posteriors, prior, target)
}

// shares are the proportions that a Decision goes from and to; nil without one.
func (m *Model) shares() (prior, target []float64, err error) {
	if m.Decision == nil {
		return nil, nil, nil
	}
	if m.Prior == nil {
		return nil, nil, fmt.Errorf("adapt: the model does not say which class proportions its posteriors assume, which decision %s needs: train it again, or choose the decision none", *m.Decision)
	}
	if target = m.Proportions; target == nil {
		target = m.Prior
	}
	prior = make([]float64, len(m.Prior))
	for k, p := range m.Prior {
		prior[k] = max(p, minPrior)
	}
	return prior, target, nil
}

// prior is the class proportions that the coefficients of the classification loss give.
func (t *trainer) prior() []float64 {
	switch {
	case t.config.ClassLoss == ClassLossBalanced:
		return slices.Repeat([]float64{1 / float64(len(t.source))}, len(t.source))
	case t.config.ClassLoss == ClassLossPlain || t.config.Method.weights == weightsUniform:
		return slices.Clone(t.source)
	}
	return slices.Clone(t.proportions)
}

// use reads what the model says of its use.
func (l *loader) use(m *Model) error {
	if err := m.Use.Get(l.file.Metadata); err != nil {
		return err
	}
	if _, there := l.file.Metadata[KeyPrior]; !there {
		return nil
	}
	if err := l.file.GetJSON(KeyPrior, &m.Prior); err != nil {
		return err
	}
	if err := checkProportions(m.Prior, len(m.Classes)); err != nil {
		return fmt.Errorf("metadata %s: %w", KeyPrior, err)
	}
	return nil
}
