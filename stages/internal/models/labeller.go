// Package models holds what the stages that apply a model do alike: read its
// file, find its input column, and label rows with it.
package models

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/gmmot"
	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/onnx"
	"mars.dev/mars/stages/algorithms/safetensors"
	"mars.dev/mars/stages/algorithms/unmix"
)

// A Labeller labels rows: a model of any kind, as the stages that use one need it.
type Labeller struct {
	Classes []string
	Vectors string // see adapt.Model.Vectors
	Width   int    // of a row
	// Preparation says how rows have to be prepared (arrowio.PreparationKey); "" if
	// nobody knows.
	Preparation string
	// Levels are coarser classes of which Classes are parts (arrowio.LevelsKey); "" if there are none.
	Levels string
	// Prepare makes rows ready for Predict and Typicality; nil if they are.
	Prepare func(x blas32.General) blas32.General
	Predict func(ctx context.Context, x blas32.General) (posteriors blas32.General, err error)
	Decide  func(posteriors blas32.General) error // for the model's decision
	// Typicality returns how typical each row is of the class of its greatest posterior,
	// from 0 to 1; nil for a model that cannot tell.
	Typicality func(ctx context.Context, x, posteriors blas32.General) ([]float32, error)
	// Embed returns the embeddings of rows; nil of a model that makes none.
	Embed func(x blas32.General) blas32.General

	// Unadjusted returns posteriors as Predict does that carry Prior, by which shares of other
	// rows can be estimated: those of a model that has given its target's shares to each of
	// its parts cannot be told from rounding where a share was 0. nil: Predict's do.
	Unadjusted func(ctx context.Context, x blas32.General) (blas32.General, error)
	// Prior is the class proportions that the posteriors carry; nil if nobody knows. Shares
	// are those of the target that the model was fitted to; nil: Prior.
	Prior, Shares []float64
	// Variance returns what the model adds to the variance of each of the shares p, of rows
	// like its target's; nil for a model that cannot tell.
	Variance func(p []float64) []float64

	// Shape is that of a row, C, H and W of an image or Width.
	Shape []int
	// ONNX adds Prepare, Predict and Decide to a graph, for rows x of Width columns.
	ONNX func(g *onnx.Graph, x onnx.Value) (Outputs, error)
	// EmbeddingWidth is that of the embedding.
	EmbeddingWidth int
	// Tensors is a matched mixture as a safetensors file; nil for other models, whose files
	// are that.
	Tensors func() (safetensors.File, error)
}

// Outputs are what a graph says of rows.
type Outputs struct {
	Posteriors onnx.Value
	Embedding  onnx.Value // "" of a model that makes none
	// Typicality adds Labeller.Typicality, for the number of each row's class; nil for a
	// model that cannot tell.
	Typicality func(class onnx.Value) onnx.Value
}

// Networks is the labeller of trained networks.
func Networks(m *adapt.Model) *Labeller {
	l := &Labeller{Classes: m.Classes, Vectors: m.Vectors, Width: m.Width(), Shape: m.Shape(), Preparation: m.Preparation, Levels: m.Levels, Decide: m.Decide,
		EmbeddingWidth: m.EmbeddingWidth(), Embed: m.Embed, Prior: m.Prior}
	l.Predict = func(_ context.Context, x blas32.General) (blas32.General, error) { return m.Predict(x), nil }
	l.ONNX = func(g *onnx.Graph, x onnx.Value) (Outputs, error) {
		embedding, p := m.ONNX(g, "", x)
		p, err := m.DecideONNX(g, p)
		return Outputs{Posteriors: p, Embedding: embedding}, err
	}
	return l
}

// Mixture is the labeller of a matched mixture.
func Mixture(m *gmmot.Model) *Labeller {
	l := &Labeller{Classes: m.Classes, Vectors: m.Vectors, Width: m.Width(), Shape: []int{m.Width()}, Preparation: m.Preparation, Levels: m.Levels,
		Predict: m.Predict, Decide: m.Decide, Tensors: m.Tensors, Prior: m.Proportions}
	l.ONNX = func(g *onnx.Graph, x onnx.Value) (Outputs, error) {
		p, err := m.ONNX(g, x)
		return Outputs{Posteriors: p}, err
	}
	return l
}

// Hedge is the labeller of a mean of several assumptions.
func Hedge(m *hedge.Model) *Labeller {
	l := &Labeller{Classes: m.Classes, Vectors: m.Vectors, Width: m.Width(), Shape: []int{m.Width()}, Preparation: m.Preparation, Levels: m.Levels,
		Prepare: m.Prepare, Predict: m.Predict, Decide: m.Decide, Typicality: m.Typicality,
		Unadjusted: m.Unadjusted, Prior: m.Prior(), Shares: m.Proportions, Variance: m.Variance}
	l.ONNX = func(g *onnx.Graph, x onnx.Value) (Outputs, error) {
		z, p, err := m.ONNX(g, x)
		return Outputs{Posteriors: p, Typicality: func(class onnx.Value) onnx.Value { return m.TypicalityONNX(g, z, class) }}, err
	}
	return l
}

// Unmix is the labeller of rows that are mixtures: their shares take the place of posteriors.
func Unmix(m *unmix.Model) *Labeller {
	return &Labeller{Classes: m.Classes, Vectors: m.Vectors, Width: m.Width(), Shape: []int{m.Width()}, Preparation: m.Preparation, Levels: m.Levels,
		Predict: m.Predict, Decide: m.Decide}
}

// Label makes rows ready for the model, and returns them with their posteriors, which are
// ready for its decision.
func (l *Labeller) Label(ctx context.Context, x blas32.General) (ready, posteriors blas32.General, err error) {
	if l.Prepare != nil {
		x = l.Prepare(x)
	}
	if posteriors, err = l.Predict(ctx, x); err != nil {
		return x, posteriors, err
	}
	return x, posteriors, l.Decide(posteriors)
}

// Load reads a model that mars-train saved, or mars export made of one, and its SHA-256. A
// decision ("accuracy", "balanced" or "none") takes the place of the model's own; "" keeps it.
func Load(ctx context.Context, path, decision string) (*Labeller, string, error) {
	f, err := Open(path)
	if err != nil {
		return nil, "", err
	}
	return f.Load(ctx, decision)
}

// Load reads the model of the file: see the function.
func (f *File) Load(ctx context.Context, decision string) (*Labeller, string, error) {
	decide := func(d **labelshift.Decision) (err error) {
		if decision != "" {
			*d, err = labelshift.ParseDecisionOrNone(decision)
		}
		return err
	}
	switch f.Kind {
	case KindMixture:
		m, sum, err := loadMixture(ctx, f)
		if err != nil {
			return nil, "", err
		}
		return Mixture(m), sum, decide(&m.Decision)
	case KindHedge:
		m, sum, err := load(f, hedge.Load)
		if err != nil {
			return nil, "", err
		}
		return Hedge(m), sum, decide(&m.Decision)
	case KindUnmix:
		m, sum, err := load(f, unmix.Load)
		if err != nil {
			return nil, "", err
		}
		if decision != "" && decision != "none" {
			return nil, "", fmt.Errorf("%s: a model of the method unmix says what rows are made of, which --decision %s does not change: leave it out", f.path, decision)
		}
		return Unmix(m), sum, nil
	}
	m, sum, err := load(f, adapt.Load)
	if err != nil {
		return nil, "", err
	}
	return Networks(m), sum, decide(&m.Decision)
}
