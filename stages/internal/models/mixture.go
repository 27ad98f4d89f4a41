package models

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/gmmot"
	"mars.dev/mars/stages/internal/state"
)

// stateKind is the kind of state (state.NewTable) that a matched mixture is kept as.
const stateKind = "train"

// SaveMixture writes the model to an Arrow file with a row a component: its class,
// share of the target's rows, weight, mean and covariance (d·d, row-major).
func SaveMixture(path string, m *gmmot.Model) (sum string, err error) {
	t := state.NewTable(stateKind, m.Mixture.K())
	for key, value := range map[string]any{adapt.KeyClasses: m.Classes, adapt.KeyProportions: m.Proportions} {
		text, err := json.Marshal(value)
		if err != nil {
			return "", fmt.Errorf("%s: %w", path, err)
		}
		t.SetMeta(key, string(text))
	}
	t.SetMeta(adapt.KeyMethod, gmmot.Method)
	m.Use.Put(t.Metadata())
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
func loadMixture(ctx context.Context, f *File) (*gmmot.Model, string, error) {
	path := f.path
	t, sum, err := load(f, func(r io.Reader, name string) (*state.Table, error) { return state.ReadTable(r, name, stateKind) })
	if err != nil {
		return nil, "", err
	}
	m := &gmmot.Model{}
	if err := m.Use.Get(t.Metadata()); err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	for key, value := range map[string]any{adapt.KeyClasses: &m.Classes, adapt.KeyProportions: &m.Proportions} {
		if err := json.Unmarshal([]byte(t.Meta(key)), value); err != nil {
			return nil, "", fmt.Errorf("%s: metadata %s: %w: train it again", path, key, err)
		}
	}
	m.ClassOf = t.Ints("class")
	if m.Mixture, err = t.Components(); err != nil {
		return nil, "", err
	}
	if err := m.Ready(ctx); err != nil {
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	return m, sum, nil
}
