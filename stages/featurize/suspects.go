package featurize

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"mars.dev/mars/stages"
	"mars.dev/mars/stages/featurize/format"
)

const (
	// minIdentityRows is how many rows a column needs to be taken for an identity, and
	// manyIdentityRows from which number on its values need no order.
	minIdentityRows, manyIdentityRows = 20, 200
	// identityDistinct is the share of different values that an identity has. (Large
	// integers lose digits as float32.)
	identityDistinct = 0.95
	// maxCopyColumns is up to how many columns copies of the label are looked for: the
	// rows are sorted by each.
	maxCopyColumns = 500
	// maxNamed is how many columns a message names.
	maxNamed = 20
)

// withoutIdentities returns the columns of a table but for those that are taken for
// identities, with a warning.
func withoutIdentities(env stages.Env, t *format.Table) []string {
	var ids []string
	if x := t.Features; x.Rows >= minIdentityRows && len(t.Columns) == x.Cols {
		for j, name := range t.Columns {
			if isIdentity(t, j) {
				ids = append(ids, name)
			}
		}
	}
	if len(ids) == 0 || len(ids) == len(t.Columns) {
		return t.Columns
	}
	env.Logger().Warn(fmt.Sprintf("%s: columns that are left out, because they have another whole number in each row, as identities do: %s: choose them with --columns if they are features", t.Name, nameColumns(ids)))
	return slices.DeleteFunc(slices.Clone(t.Columns), func(name string) bool { return slices.Contains(ids, name) })
}

// isIdentity reports whether column j is whole numbers that are (nearly) all different,
// and also rise, or lie in a range of row numbers, or are many: row numbers and keys,
// which say nothing of other rows.
func isIdentity(t *format.Table, j int) bool {
	x := t.Features
	seen, rises := make(map[float32]bool, x.Rows), true
	for i := range x.Rows {
		v := x.Data[i*x.Stride+j]
		if v != float32(math.Trunc(float64(v))) {
			return false
		}
		rises = rises && (i == 0 || v >= x.Data[(i-1)*x.Stride+j])
		seen[v] = true
		if float64(i+1-len(seen)) > (1-identityDistinct)*float64(x.Rows) {
			return false
		}
	}
	low, high := bounds(t, j)
	return (rises || x.Rows >= manyIdentityRows || float64(high)-float64(low) < 2*float64(x.Rows))
}

// warnOfCopies warns of columns that tell the source's classes apart by themselves, as a
// copy of the label does, and of columns whose values in the two domains do not overlap.
func warnOfCopies(env stages.Env, source, target *format.Table) {
	if source == nil || source.Features.Rows < minIdentityRows || len(source.Columns) != source.Features.Cols || source.Features.Cols > maxCopyColumns {
		return
	}
	for j, name := range source.Columns {
		if source.Labels != nil && separates(source, j) {
			env.Logger().Warn(fmt.Sprintf("column %q tells all classes of the source apart by itself: if it is a copy of the label, leave it out with --columns", name))
		}
		if target != nil && len(target.Columns) == len(source.Columns) && apart(source, target, j) {
			env.Logger().Warn(fmt.Sprintf("column %q has no value of the target within its values of the source: if it says which file a row is from, leave it out with --columns", name))
		}
	}
}

// separates reports whether the rows of every class are together when they are sorted by
// column j.
func separates(t *format.Table, j int) bool {
	order := make([]int, t.Features.Rows)
	for i := range order {
		order[i] = i
	}
	value := func(i int) float32 { return t.Features.Data[i*t.Features.Stride+j] }
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(value(a), value(b)), strings.Compare(t.Labels[a], t.Labels[b]))
	})
	ended := map[string]bool{}
	for k := 1; k < len(order); k++ {
		before, now := t.Labels[order[k-1]], t.Labels[order[k]]
		if before == now {
			continue
		}
		if value(order[k-1]) == value(order[k]) || ended[now] {
			return false
		}
		ended[before] = true
	}
	return len(ended) > 0
}

// apart reports whether the ranges of column j in the two tables do not overlap.
func apart(a, b *format.Table, j int) bool {
	lowA, highA := bounds(a, j)
	lowB, highB := bounds(b, j)
	return lowA > highB || lowB > highA
}

func bounds(t *format.Table, j int) (low, high float32) {
	low, high = float32(math.Inf(1)), float32(math.Inf(-1))
	for i := range t.Features.Rows {
		v := t.Features.Data[i*t.Features.Stride+j]
		low, high = min(low, v), max(high, v)
	}
	return low, high
}

// nameColumns says which columns are features.
func nameColumns(columns []string) string {
	if len(columns) <= maxNamed {
		return strings.Join(columns, ", ")
	}
	return fmt.Sprintf("%s … (%d in all)", strings.Join(columns[:maxNamed], ", "), len(columns))
}
