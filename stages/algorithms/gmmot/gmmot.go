// Package gmmot labels target rows without adapting anything: a Gaussian mixture of
// the target's rows, whose components are matched with the source's classes by
// optimal transport between means (Algorithm 2 of the MARS paper). A row's class is
// that of its component. It is the paper's GMM+OT (its figure on imbalance and its
// table on VisDA-3), and tells how much of a result is owed to adaptation.
package gmmot

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/adapt"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/mixture"
	"mars.dev/mars/stages/algorithms/mte"
	"mars.dev/mars/stages/algorithms/transport"
)

// Method is what the way to label is called.
const Method = "gmm-ot"

// A Model is a Gaussian mixture with a class for each component. Its methods do not
// change it and may be called from several goroutines.
type Model struct {
	Classes []string // names, in the order of the probabilities' columns
	// Mixture has the components of the target's rows.
	Mixture mixture.Components
	// ClassOf holds the class of each component.
	ClassOf []int32
	// Proportions holds p_T: for each class, the share of the target's rows that
	// belong to its component.
	Proportions []float64
	adapt.Use

	assigner *mixture.Assigner
}

// Fit fits a mixture with full covariances and as many components as there are
// classes to the rows of target (n_T×d) and matches them with the classes of the
// rows of source (n_S×d), each of which must have one. It also returns the matching.
// Errors are those of mixture.GMM and of transport.MatchPrototypes.
func Fit(ctx context.Context, source blas32.General, labels []int32, target blas32.General, classes []string, seed uint64) (*Model, *transport.Matching, error) {
	problem := mte.Problem{Source: source, Labels: labels, Target: mte.InMemory(target), Classes: len(classes), Names: classes}
	r, err := labelshift.Estimate(ctx, "marsg", labelshift.Inputs{Problem: problem, Seed: seed})
	if err != nil {
		return nil, nil, err
	}
	m := &Model{Classes: classes, Mixture: r.Clustering.Components, ClassOf: r.Matching.ClassOf, Proportions: r.Proportions}
	return m, r.Matching, m.Ready(ctx)
}

// Ready prepares a model that was put together from its exported fields for
// Predict. It fails if they do not fit together.
func (m *Model) Ready(ctx context.Context) error {
	if len(m.ClassOf) != m.Mixture.K() || len(m.Proportions) != len(m.Classes) || m.Mixture.Covariances == nil {
		return fmt.Errorf("gmmot: %d Gaussian components with %d classes, %d proportions of %d classes: fit again",
			len(m.Mixture.Covariances), len(m.ClassOf), len(m.Proportions), len(m.Classes))
	}
	for k, class := range m.ClassOf {
		if class < 0 || int(class) >= len(m.Classes) {
			return fmt.Errorf("gmmot: component %d has class %d of %d: fit again", k, class, len(m.Classes))
		}
	}
	for k, p := range m.Proportions {
		if !(p >= 0 && p <= 1+1e-9) {
			return fmt.Errorf("gmmot: the proportion of class %d is %v: fit again", k, p)
		}
	}
	var err error
	m.assigner, err = m.Mixture.Assigner(ctx)
	return err
}

// Width returns the number d of values of a row.
func (m *Model) Width() int { return m.Mixture.Dim() }

// Predict returns the n×C posteriors of the rows of x (n×d): the responsibilities
// of each class' components, summed. It returns ctx.Err() if ctx ends, and panics if x
// has another width.
func (m *Model) Predict(ctx context.Context, x blas32.General) (blas32.General, error) {
	classes := len(m.Classes)
	p := dense.New(x.Rows, classes)
	if x.Rows == 0 {
		return p, nil
	}
	responsibilities := mat.NewDense(x.Rows, m.Mixture.K(), nil)
	if err := m.assigner.Responsibilities(ctx, responsibilities, x); err != nil {
		return p, err
	}
	sums := make([]float64, classes)
	for i := range x.Rows {
		clear(sums)
		for k, r := range responsibilities.RawRowView(i) {
			sums[m.ClassOf[k]] += r
		}
		for c, s := range sums {
			p.Data[i*classes+c] = float32(s)
		}
	}
	return p, nil
}

// Decide changes posteriors (n×C) in place for the model's Decision, if it has one:
// from the mixing weights, which they carry, to p_T.
func (m *Model) Decide(posteriors blas32.General) error {
	if m.Decision == nil {
		return nil
	}
	return m.Decision.Adjust(posteriors, m.prior(), m.Proportions)
}

// prior is the sum of each class' mixing weights.
func (m *Model) prior() []float64 {
	prior := make([]float64, len(m.Classes))
	for k, w := range m.Mixture.Weights {
		prior[m.ClassOf[k]] += w
	}
	for c := range prior {
		prior[c] = math.Max(prior[c], minPrior)
	}
	return prior
}

// minPrior is what a class' share of the prior counts as if it is less.
const minPrior = 1e-4
