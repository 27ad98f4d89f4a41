package labelled

import (
	"context"
	"fmt"
	"strings"

	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/internal/diagnostics"
)

// Relearn is the model with its views weighed by the labels, and says what they make of these.
func (rows *Rows) Relearn(ctx context.Context, env stages.Env, m *hedge.Model) (*hedge.Model, error) {
	views, kept, err := rows.Views(ctx, m)
	if err != nil {
		return nil, err
	}
	weights, shares := make([]float64, len(m.Views)), make([]float64, len(m.Classes))
	var parts []string
	now := rows.Reweigh(views)
	for i, w := range now {
		weights[kept[i]] = w
		for k, p := range m.Views[kept[i]].Proportions {
			shares[k] += w * p
		}
		if w >= minShown {
			parts = append(parts, fmt.Sprintf("%s (weight %.2f, before %.2f)", diagnostics.Assumption(views[i].Name), w, views[i].Weight))
		}
	}
	env.Logger().Info(fmt.Sprintf("by %s: %s", spelling.Count(len(rows.Class), "label", "labels"), strings.Join(parts, "; ")))
	refuted := rows.Refuted(views)
	for _, v := range refuted {
		env.Logger().Info(fmt.Sprintf("the labels refute that %s (p = %.2g)", diagnostics.Assumption(v.Name), v.P))
	}
	if len(refuted) == len(views) && len(rows.Fresh()) == 0 {
		env.Logger().Warn(fmt.Sprintf("the labels refute every assumption, so rows that nobody has labelled are labelled by one that is wrong: about %.0f %% of these labels are right, by those that were given; take the shares of the classes from mars proportions --labels",
			100*rows.right(&Evidence{Views: views, Guessed: make([]int, len(m.Classes))}, now)))
	}
	return m.Reweighed(weights, shares)
}

// right is the share of right labels that the views give by some weights: that of the labelled
// rows, each as many as its draw stands for.
func (rows *Rows) right(e *Evidence, weights []float64) float64 {
	right, all := 0.0, 0.0
	for i, p := range e.Posteriors(weights) {
		stands := 1 / rows.Answers.Labelled[i].Probability
		all += stands
		if argmax(p) == rows.Class[i] {
			right += stands
		}
	}
	return right / all
}

// minShown is the weight of a view that is shown.
const minShown = 0.02
