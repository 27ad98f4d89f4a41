package labelshift

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/classmap"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/mte"
)

// refitSteps bounds the steps of EM after a classifier has been retrained.
const refitSteps = 200

// Refit estimates p_T by a classifier that is trained on the source after its
// classes have been moved to where MTE found them, and EM on its posteriors.
// The classifier works on the standardised features, or their 50 principal
// components if there are more. Options, warnings and errors are those of
// package mte; the target is gone through three times.
func Refit(ctx context.Context, p mte.Problem, train Classifier, o mte.Options) (*Result, error) {
	m, err := mte.Fit(ctx, p, o)
	if err != nil {
		return nil, err
	}
	return refitted(ctx, m, train)
}

// refitted is Refit after match–translate–EM.
func refitted(ctx context.Context, m *mte.MTE, train Classifier) (*Result, error) {
	source, labels := m.SourceRows()
	moved, err := classmap.Displace(ctx, source, labels, m.TargetRows, m.Present().OfRows(m.Responsibilities), classmap.Options{})
	if err != nil {
		return nil, err
	}
	if err := moved.Apply(ctx, source, source, labels); err != nil {
		return nil, err
	}
	posteriors, err := classify(ctx, m, train, source)
	if err != nil {
		return nil, err
	}
	r, err := EM(posteriors, m.Present().Prior, EMOptions{Iterations: refitSteps})
	if err != nil {
		return nil, err
	}
	return ofAll(m, r, "refit"), nil
}

// counted is CC of a classifier that is trained on the source as it is.
func counted(ctx context.Context, m *mte.MTE, train Classifier) (*Result, error) {
	source, _ := m.SourceRows()
	posteriors, err := classify(ctx, m, train, source)
	if err != nil {
		return nil, err
	}
	r, err := CC(posteriors)
	if err != nil {
		return nil, err
	}
	return ofAll(m, r, "cc"), nil
}

// classify trains on rows of the space of m.SourceRows and returns the
// posteriors of the target, n_T×(present classes).
func classify(ctx context.Context, m *mte.MTE, train Classifier, source blas32.General) (blas32.General, error) {
	posterior, err := train(ctx, source, m.Present().Labels)
	if err != nil {
		return blas32.General{}, fmt.Errorf("labelshift: training a classifier: %w", err)
	}
	all := dense.New(0, len(m.Present().Class))
	for x, err := range m.TargetRows {
		if err != nil {
			return all, err
		}
		p, err := posterior(x)
		if err != nil {
			return all, fmt.Errorf("labelshift: classifying the target: %w", err)
		}
		if p.Rows != x.Rows || p.Cols != all.Cols {
			panic("labelshift: a classifier's posteriors have the wrong shape")
		}
		for i := range p.Rows {
			dense.Append(&all, dense.Row(p, i))
		}
	}
	return all, nil
}

// ofAll gives a result of the present classes all of them, and a name.
func ofAll(m *mte.MTE, r *Result, name string) *Result {
	r.Estimator = name
	r.Proportions = m.Present().All(r.Proportions)
	r.Responsibilities = m.Present().AllRows(r.Responsibilities)
	return r
}
