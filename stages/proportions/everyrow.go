package proportions

import (
	"fmt"

	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/internal/models"
	"mars.dev/mars/stages/internal/responses"
	"mars.dev/mars/stages/internal/state"
)

// EveryRow says how the proportions of all rows came about.
type EveryRow struct {
	Rows   int64 `json:"rows"`
	Parts  int   `json:"parts"`
	Passes int   `json:"passes"`
	// Step is what the last pass moved EM's fixed point by, in L1: what is left is about its
	// square.
	Step float64 `json:"step"`
	// Sampling is the standard deviation of each share, at most, for which the number of rows
	// is to blame.
	Sampling []float64 `json:"sampling"`
	// FixedPoints are where EM stays, by assumption.
	FixedPoints map[string][]float64 `json:"fixed_points"`
}

// FromSums answers from sums over all rows, in a file, by the model that they are of. It fails if
// they are not those of the fixed point: another pass is then needed.
func FromSums(model, path string, level float64) (*Report, error) {
	m, sum, err := models.LoadHedge(model)
	if err != nil {
		return nil, err
	}
	sums, err := responses.LoadOf(m, sum, path)
	if err != nil {
		return nil, err
	}
	r, step, err := ofEveryRow(m, sums, level, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if r == nil {
		return nil, fmt.Errorf("%s: the sums of pass %d lead on by %.2g, in L1, and are not those of the fixed point yet: run mars respond --model %s --after %s on all parts, and merge what it leaves", path, sums.Pass, step, model, path)
	}
	return r, nil
}

// FromModel answers by the fit of a model in a file, which says what the proportions of its target were.
func FromModel(path string, level float64) (*Report, error) {
	m, _, err := models.LoadHedge(path)
	if err != nil {
		return nil, err
	}
	if m.Sampling == nil {
		return nil, fmt.Errorf("%s: does not say how sure its proportions are: save it again with mars label, without --labels, or give --source and --target", path)
	}
	m.Interval = m.IntervalAt(level)
	return newHedgeReport(m, m.Shares(), m.Rows, m.Doubts).fillLevels(), nil
}

// ofEveryRow answers by sums at a point that led on by step. There is no report if that is not
// the fixed point.
func ofEveryRow(m *hedge.Model, sums *responses.Responses, level float64, doubts []string) (r *Report, step float64, err error) {
	total := sums.Total(m)
	next, step, err := m.Next(total, sums.Point)
	if err != nil || !hedge.Done(step) {
		return nil, step, err
	}
	a, err := m.Answer(total, next, level)
	if err != nil {
		return nil, 0, err
	}
	r = newHedgeReport(m.With(a), m.Shares(), int(a.Rows), doubts)
	r.EveryRow = &EveryRow{Rows: a.Rows, Parts: len(sums.Parts), Passes: sums.Pass, Step: step, Sampling: a.Sampling, FixedPoints: map[string][]float64{}}
	for _, v := range a.Views {
		if v.FixedPoint != nil {
			r.EveryRow.FixedPoints[v.Name] = v.FixedPoint
		}
	}
	return r.fillLevels(), step, nil
}

// OfSums is the report r with what sums over all rows say in the place of what the rows of the
// fit said, by the model of Model. It is nil if the sums are not those of the fixed point: they
// lead on by step, in L1.
func (r *Report) OfSums(sums *responses.Responses) (all *Report, step float64, err error) {
	all, step, err = ofEveryRow(r.model, sums, r.Interval.Level, r.doubts)
	if all != nil {
		all.steps = r.steps
	}
	return all, step, err
}

// Model is what a report of the method hedge was made of; nil for other methods.
func (r *Report) Model() *hedge.Model { return r.model }

// SaveModel writes Model to a file, for mars predict.
func (r *Report) SaveModel(path string) error {
	_, err := state.Save(path, r.model.Save)
	return err
}
