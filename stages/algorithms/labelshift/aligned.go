package labelshift

import (
	"context"
	"fmt"

	"mars/stages/algorithms/classmap"
)

// aligned is MTE from another beginning: the source's rows, as a whole, are
// first given the mean and the covariance of the target's (CORAL, Sun, Feng &
// Saenko 2016). That is translation as if all rows were of one class.
func (m *match) aligned() (*Estimate, error) {
	source := m.wide.apply(m.problem.Source)
	together := make([]int32, source.Rows)
	certain := newRows(m.target.Rows, 1)
	for i := range certain.Data {
		certain.Data[i] = 1
	}
	whole, err := classmap.Fit(context.TODO(), source, together, m.wideTarget, certain, classmap.Options{})
	if err != nil {
		return nil, fmt.Errorf("labelshift: %w", err)
	}
	if err := whole.Apply(context.TODO(), source, source, together); err != nil {
		return nil, err
	}
	e, err := MTE(Problem{Source: source, Labels: m.present.labels, Target: m.wideTarget, Classes: len(m.present.class)}, m.options)
	if err != nil {
		return nil, fmt.Errorf("labelshift: after aligning source and target: %w", err)
	}
	return m.widen(e, "aligned"), nil
}
