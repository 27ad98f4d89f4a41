package adapt

import (
	"encoding/json"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/safetensors"
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

// saveUse writes the metadata about the model's use.
func (m *Model) saveUse(f *safetensors.File) error {
	if m.Prior != nil {
		text, err := json.Marshal(m.Prior)
		if err != nil {
			return fmt.Errorf("adapt: prior: %w", err)
		}
		f.Metadata[KeyPrior] = string(text)
	}
	if m.Decision != nil {
		f.Metadata[KeyDecision] = m.Decision.String()
	}
	if m.Vectors != "" {
		f.Metadata[KeyVectors] = m.Vectors
	}
	if m.Preparation != "" {
		f.Metadata[KeyPreparation] = m.Preparation
	}
	return nil
}

// use reads what saveUse writes.
func (l *loader) use(m *Model) error {
	m.Vectors, m.Preparation = l.file.Metadata[KeyVectors], l.file.Metadata[KeyPreparation]
	if text, there := l.file.Metadata[KeyDecision]; there {
		d, err := labelshift.ParseDecision(text)
		if err != nil {
			return fmt.Errorf("metadata %s: %w", KeyDecision, err)
		}
		m.Decision = &d
	}
	if _, there := l.file.Metadata[KeyPrior]; !there {
		return nil
	}
	if err := l.decode(KeyPrior, &m.Prior); err != nil {
		return err
	}
	if err := checkProportions(m.Prior, len(m.Classes)); err != nil {
		return fmt.Errorf("metadata %s: %w", KeyPrior, err)
	}
	return nil
}
