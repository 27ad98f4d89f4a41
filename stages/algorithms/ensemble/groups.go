package ensemble

import (
	"cmp"
	"slices"
)

// Rows come in groups: of a person, a day, a laboratory. A classifier that has seen other rows of a
// group knows more of its rows than of those of a new one, so groups are held out whole.

// holdWhole gives the rows of a group one fold: to the largest first, that with the fewest rows. The rows of a
// class that would then be in one fold alone, as those of a class that one group alone has, keep theirs.
func (t *Tuned) holdWhole(fold []int, labels []int32) {
	foldOf := foldsOfGroups(t.groups)
	var first []int // of each class, the fold of its first row, or some where it has rows in several
	for range t.Classes {
		first = append(first, -1)
	}
	const some = folds
	for i, g := range t.groups {
		switch k := labels[i]; {
		case first[k] < 0:
			first[k] = foldOf[g]
		case first[k] != foldOf[g]:
			first[k] = some
		}
	}
	for i, g := range t.groups {
		if first[labels[i]] == some {
			fold[i] = foldOf[g]
		}
	}
}

// foldsOfGroups is the fold of each group, of which each row is of one.
func foldsOfGroups(groups []int32) []int {
	rows := make([]int, slices.Max(groups)+1)
	order := make([]int, len(rows))
	for _, g := range groups {
		rows[g]++
	}
	for g := range order {
		order[g] = g
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rows[b], rows[a]) })
	var taken [folds]int
	foldOf := make([]int, len(rows))
	for _, g := range order {
		least := 0
		for f, n := range taken {
			if n < taken[least] {
				least = f
			}
		}
		foldOf[g] = least
		taken[least] += rows[g]
	}
	return foldOf
}
