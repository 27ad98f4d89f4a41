package labelled

import (
	"context"
	"fmt"
	"strings"

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
	for i, w := range rows.Reweigh(views) {
		weights[kept[i]] = w
		for k, p := range m.Views[kept[i]].Proportions {
			shares[k] += w * p
		}
		if w >= minShown {
			parts = append(parts, fmt.Sprintf("%s (weight %.2f, before %.2f)", diagnostics.Assumption(views[i].Name), w, views[i].Weight))
		}
	}
	env.Logger().Info(fmt.Sprintf("by %d labels: %s", len(rows.Class), strings.Join(parts, "; ")))
	for _, v := range rows.Refuted(views) {
		env.Logger().Info(fmt.Sprintf("the labels refute that %s (p = %.2g)", diagnostics.Assumption(v.Name), v.P))
	}
	return m.Reweighed(weights, shares)
}

// minShown is the weight of a view that is shown.
const minShown = 0.02
