// Package models holds what the stages that apply a model do alike: read its
// file, find its input column, and label rows with it.
package models

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/gmmot"
	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/mixture"
	"mars.dev/mars/stages/algorithms/safetensors"
	"mars.dev/mars/stages/internal/state"
)

// A Labeller labels rows: a model of any kind, as the stages that use one need it.
type Labeller struct {
	Classes []string
	Vectors string // see adapt.Model.Vectors
	Width   int    // of a row
	// Preparation says how rows have to be prepared (arrowio.PreparationKey); "" if
	// nobody knows.
	Preparation string
	// Prepare makes rows ready for Predict and Typicality; nil if they are.
	Prepare func(x blas32.General) blas32.General
	Predict func(ctx context.Context, x blas32.General) (posteriors blas32.General, err error)
	Decide  func(posteriors blas32.General) error // for the model's decision
	// Typicality returns how typical each row is of the class of its greatest posterior,
	// from 0 to 1; nil for a model that cannot tell.
	Typicality func(ctx context.Context, x, posteriors blas32.General) ([]float32, error)
}

// Networks is the labeller of trained networks.
func Networks(m *adapt.Model) *Labeller {
	return &Labeller{Classes: m.Classes, Vectors: m.Vectors, Width: m.Width(), Preparation: m.Preparation, Decide: m.Decide,
		Predict: func(_ context.Context, x blas32.General) (blas32.General, error) { return m.Predict(x), nil }}
}

// Mixture is the labeller of a matched mixture.
func Mixture(m *gmmot.Model) *Labeller {
	return &Labeller{Classes: m.Classes, Vectors: m.Vectors, Width: m.Width(), Preparation: m.Preparation, Predict: m.Predict, Decide: m.Decide}
}

// Hedge is the labeller of a mean of several assumptions.
func Hedge(m *hedge.Model) *Labeller {
	return &Labeller{Classes: m.Classes, Vectors: m.Vectors, Width: m.Width(), Preparation: m.Preparation,
		Prepare: m.Prepare, Predict: m.Predict, Decide: m.Decide, Typicality: m.Typicality}
}

// Load reads a model that mars-train saved, and its SHA-256. A decision
// ("accuracy", "balanced" or "none") takes the place of the model's own; "" keeps it.
func Load(ctx context.Context, path, decision string) (*Labeller, string, error) {
	decide := func(d **labelshift.Decision) (err error) {
		if decision != "" {
			*d, err = labelshift.ParseDecisionOrNone(decision)
		}
		return err
	}
	if f, err := arrowio.SniffFile(path); err == nil && f.IsArrow() {
		m, sum, err := loadMixture(ctx, path)
		if err != nil {
			return nil, "", err
		}
		return Mixture(m), sum, decide(&m.Decision)
	}
	if method, err := methodOf(path); err != nil {
		return nil, "", err
	} else if method == hedge.Method {
		m, sum, err := state.Load(path, hedge.Load)
		if err != nil {
			return nil, "", err
		}
		return Hedge(m), sum, decide(&m.Decision)
	}
	m, sum, err := state.Load(path, adapt.Load)
	if err != nil {
		return nil, "", err
	}
	return Networks(m), sum, decide(&m.Decision)
}

// methodOf is the method in the metadata of a safetensors file.
func methodOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	metadata, err := safetensors.ReadMetadata(f)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return metadata[adapt.KeyMethod], nil
}

// SaveMixture writes the model to an Arrow file with a row a component: its class,
// share of the target's rows, weight, mean and covariance (d·d, row-major).
func SaveMixture(path string, m *gmmot.Model) (sum string, err error) {
	t := state.NewTable("train", m.Mixture.K())
	for key, value := range map[string]any{adapt.KeyClasses: m.Classes, adapt.KeyProportions: m.Proportions} {
		text, err := json.Marshal(value)
		if err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
		t.SetMeta(key, string(text))
	}
	t.SetMeta(adapt.KeyMethod, gmmot.Method)
	if m.Vectors != "" {
		t.SetMeta(adapt.KeyVectors, m.Vectors)
	}
	if m.Decision != nil {
		t.SetMeta(adapt.KeyDecision, m.Decision.String())
	}
	if m.Provenance != "" {
		t.SetMeta(adapt.KeyProvenance, m.Provenance)
	}
	if m.Preparation != "" {
		t.SetMeta(adapt.KeyPreparation, m.Preparation)
	}
	means := make([][]float64, m.Mixture.K())
	for k := range means {
		means[k] = m.Mixture.Means.RawRowView(k)
	}
	t.AddInts("class", m.ClassOf)
	t.AddFloats("proportion", m.Mixture.Proportions)
	t.AddFloats("weight", m.Mixture.Weights)
	t.AddVectors("mean", means)
	t.AddVectors("covariance", m.Mixture.Covariances)
	return t.Save(path)
}

// loadMixture reads what SaveMixture wrote.
func loadMixture(ctx context.Context, path string) (*gmmot.Model, string, error) {
	t, sum, err := state.LoadTable(path, "train")
	if err != nil {
		return nil, "", err
	}
	m := &gmmot.Model{Vectors: t.Meta(adapt.KeyVectors), Provenance: t.Meta(adapt.KeyProvenance), Preparation: t.Meta(adapt.KeyPreparation)}
	for key, value := range map[string]any{adapt.KeyClasses: &m.Classes, adapt.KeyProportions: &m.Proportions} {
		if err := json.Unmarshal([]byte(t.Meta(key)), value); err != nil {
			return nil, "", fmt.Errorf("%s: metadata %s: %w: train it again", path, key, err)
		}
	}
	if text := t.Meta(adapt.KeyDecision); text != "" {
		if m.Decision, err = labelshift.ParseDecisionOrNone(text); err != nil {
			return nil, "", fmt.Errorf("%s: metadata %s: %w", path, adapt.KeyDecision, err)
		}
	}
	if m.ClassOf, err = t.Ints("class"); err != nil {
		return nil, "", err
	}
	if m.Mixture, err = components(t); err != nil {
		return nil, "", err
	}
	if err := m.Ready(ctx); err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	return m, sum, nil
}

func components(t *state.Table) (c mixture.Components, err error) {
	if c.Proportions, err = t.Shares("proportion"); err != nil {
		return c, err
	}
	if c.Weights, err = t.Floats("weight"); err != nil {
		return c, err
	}
	if c.Covariances, err = t.Vectors("covariance"); err != nil {
		return c, err
	}
	means, err := t.Vectors("mean")
	if err != nil {
		return c, err
	}
	if len(means) == 0 || len(means[0]) == 0 {
		return c, errors.New("the model holds no component: train it again")
	}
	c.Means = mat.NewDense(len(means), len(means[0]), nil)
	for k, mean := range means {
		c.Means.SetRow(k, mean)
	}
	return c, nil
}
