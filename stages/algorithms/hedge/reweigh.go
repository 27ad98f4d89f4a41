package hedge

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/labelshift"
)

// Labels of some target rows say which views are wrong. This file has what is needed to weigh
// the views anew: what each says of given rows, and the model with other weights. A fit with
// Options.KeepAll is needed, so that a view that had no weight can get some.

// Posteriors returns what each view says of prepared rows z: n×C, in the order of Views; without
// values for a view whose classifier was not kept. It returns ctx.Err() if ctx ends.
func (m *Model) Posteriors(ctx context.Context, z blas32.General) ([]blas32.General, error) {
	all := make([]blas32.General, len(m.Views))
	for i, v := range m.Views {
		if m.kept(v) {
			all[i] = dense.New(z.Rows, len(m.Classes))
		}
	}
	return all, eachBlock(ctx, z.Rows, func(lo, hi int) error {
		for c, model := range m.classifiers {
			if model == nil {
				continue
			}
			mean := model.Predict(dense.Rows(z, lo, hi))
			for i, v := range m.Views {
				if v.Classifier != c {
					continue
				}
				q := dense.Clone(mean)
				if err := labelshift.Accuracy.Adjust(q, m.prior, v.carried()); err != nil {
					return err
				}
				copy(dense.Rows(all[i], lo, hi).Data, q.Data)
			}
		}
		return nil
	})
}

// Reweighed is the model with other weights of its views, which add up to 1, and other
// proportions. It panics if there is not a weight a view and a share a class, and returns an
// error if a view gets weight that was not kept.
func (m *Model) Reweighed(weights, proportions []float64) (*Model, error) {
	if len(weights) != len(m.Views) || len(proportions) != len(m.Classes) {
		panic("hedge: a weight a view and a share a class are needed")
	}
	for i, v := range m.Views {
		if weights[i] >= minWeight && !m.kept(v) {
			return nil, fmt.Errorf("hedge: the model has not kept what labels rows under the assumption %q: fit it anew", v.Name)
		}
	}
	all := m.weighed(weights)
	all.Proportions, all.Sampling = proportions, nil
	return all, nil
}

// weighed is the model with other weights of its views.
func (m *Model) weighed(weights []float64) *Model {
	all := *m
	all.Views = slices.Clone(m.Views)
	for i := range all.Views {
		all.Views[i].Weight = weights[i]
	}
	return &all
}
