package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages/algorithms/unmix"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/models"
	"mars.dev/mars/stages/internal/state"
	"mars.dev/mars/stages/internal/stream"
)

// learnUnmix says what each row is made of.
func learnUnmix(ctx context.Context, r *stream.Rows, o Options) (*trained, error) {
	if o.given != nil {
		return nil, fmt.Errorf("%s: with the method unmix a row has no label: leave the labels out", o.given.Path)
	}
	p, _, err := gather(ctx, r, o, true)
	if err != nil {
		return nil, err
	}
	column := o.column(r)
	if p.Target.Rows == 0 {
		return nil, r.Fail(column, errors.New("no target row has a value"), "give rows with values")
	}
	m, err := unmix.Fit(ctx, p.Source, p.Labels, p.Classes)
	if err != nil {
		return nil, r.Fail(column, err, "")
	}
	if m.Proportions, err = m.Together(ctx, p.Target); err != nil {
		return nil, r.Fail(column, err, "")
	}
	models.Note(&m.Use, r, column)
	if m.Provenance, err = r.Provenance(); err != nil {
		return nil, err
	}
	if m.Amounts() {
		r.Logger().Info(unmix.OfAmounts)
	}
	r.Logger().Info("all rows together are made of " + together(p.Classes, m.Proportions))
	said := &diagnostics.Diagnostics{Estimator: unmix.Method, Warnings: []string{unmix.Assumes}}
	said.Log(r.Env)
	return &trained{models.Unmix(m), func(path string) (string, error) { return state.Save(path, m.Save) }, m.Proportions, said}, nil
}

// maxSaid is how many classes a line names.
const maxSaid = 6

// together names the classes with their shares, the largest first.
func together(classes []string, shares []float64) string {
	order := make([]int, len(classes))
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(shares[b], shares[a]) })
	var parts []string
	for _, k := range order[:min(maxSaid, len(order))] {
		parts = append(parts, fmt.Sprintf("%s (%.1f %%)", classes[k], 100*shares[k]))
	}
	if more := len(order) - maxSaid; more > 0 {
		parts = append(parts, spelling.Count(more, "more class", "more classes"))
	}
	return strings.Join(parts, ", ")
}
