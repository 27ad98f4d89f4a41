package featurize

import (
	"fmt"
	"slices"

	"mars.dev/mars/stages"
	"mars.dev/mars/tables"
)

// tellRaw says of intensities as a cytometer measures them how they are brought to a scale on which
// classes are as wide as they are far apart.
func (st *recipe) tellRaw(env stages.Env, t *tables.Table) {
	if t == nil || t.Cofactor == 0 || st.Transform != nil || st.learnt {
		return
	}
	var raw []string
	for j, name := range t.Columns {
		if isRaw(t, j) {
			raw = append(raw, name)
		}
	}
	if len(raw) < 2 {
		return
	}
	say := fmt.Sprintf("--arcsinh %g", t.Cofactor)
	if t.Cofactor > 5 {
		say += " or --logicle 262144 (the top of the instrument's scale)"
	}
	env.Logger().Info(fmt.Sprintf("%s: the intensities are raw (%s): %s brings them to the scale on which cells are gated", t.Name, nameColumns(raw), say))
}

// What raw intensities are: the brightest cells are farther above the middle than the dimmest below
// it, by more than on any scale on which populations are seen, and farther from 0 than these scales
// reach, which end at 12 (arcsinh) or below.
const (
	rawSkew  = 10
	rawReach = 50
	rawRows  = 5000 // are looked at
)

func isRaw(t *tables.Table, j int) bool {
	var values []float32
	for i := 0; i < t.Features.Rows; i += 1 + t.Features.Rows/rawRows {
		if v := t.Row(i)[j]; v == v {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return false
	}
	slices.Sort(values)
	at := func(share float64) float32 { return values[int(share*float64(len(values)-1))] }
	middle := at(0.5)
	return at(0.99) > rawReach && at(0.99)-middle > rawSkew*(middle-at(0.01))
}
