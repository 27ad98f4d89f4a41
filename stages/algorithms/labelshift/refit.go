package labelshift

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"

	"mars/stages/algorithms/classmap"
)

// refitSteps bounds the steps of EM after a classifier has been retrained.
const refitSteps = 200

// Refit estimates p_T by a classifier that is trained on the source after its
// classes have been moved to where MTE found them, and EM on its posteriors.
// The classifier works on the standardised features, or their 50 principal
// components if there are more. Options, warnings and errors are those of MTE;
// the target is gone through three times.
func Refit(p Problem, train Classifier, o MTEOptions) (*Estimate, error) {
	e, err := MTE(p, o)
	if err != nil {
		return nil, err
	}
	return e.match.refit(train)
}

// refit is Refit after MTE.
func (m *match) refit(train Classifier) (*Estimate, error) {
	source := m.wide.apply(m.problem.Source)
	moved, err := classmap.Displace(context.TODO(), source, m.present.labels, m.wideTarget, m.responsibilities, classmap.Options{})
	if err != nil {
		return nil, fmt.Errorf("labelshift: %w", err)
	}
	if err := moved.Apply(context.TODO(), source, source, m.present.labels); err != nil {
		return nil, err
	}
	posteriors, err := m.classify(train, source)
	if err != nil {
		return nil, err
	}
	e, err := EM(posteriors, m.present.prior, EMOptions{Iterations: refitSteps})
	if err != nil {
		return nil, err
	}
	return m.widen(e, "refit"), nil
}

// count is CC of a classifier that is trained on the source as it is.
func (m *match) count(train Classifier) (*Estimate, error) {
	posteriors, err := m.classify(train, m.wide.apply(m.problem.Source))
	if err != nil {
		return nil, err
	}
	e, err := CC(posteriors)
	if err != nil {
		return nil, err
	}
	return m.widen(e, "cc"), nil
}

// classify trains on rows of the wide space and returns the posteriors of the
// target.
func (m *match) classify(train Classifier, source blas32.General) (blas32.General, error) {
	posterior, err := train(source, m.present.labels, nil)
	if err != nil {
		return blas32.General{}, fmt.Errorf("labelshift: training a classifier: %w", err)
	}
	all := newRows(0, len(m.present.class))
	for x, err := range m.wideTarget {
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
			all.Data = append(all.Data, row(p, i)...)
		}
		all.Rows += p.Rows
	}
	return all, nil
}

// wideTarget is the target in the wide space, as Blocks.
func (m *match) wideTarget(yield func(blas32.General, error) bool) {
	for x, err := range m.problem.Target {
		if err != nil {
			yield(x, fmt.Errorf("labelshift: reading the target: %w", err))
			return
		}
		for lo := 0; lo < x.Rows; lo += wideRows {
			if !yield(m.wide.apply(part(x, lo, min(lo+wideRows, x.Rows))), nil) {
				return
			}
		}
	}
}

// wideRows is how many target rows a classifier is given at a time.
const wideRows = 4096

// widen gives an estimate of the present classes all of them, and a name.
func (m *match) widen(e *Estimate, name string) *Estimate {
	e.Estimator = name
	e.Proportions = m.present.spread(e.Proportions)
	e.Responsibilities = m.present.spreadRows(e.Responsibilities)
	return e
}
