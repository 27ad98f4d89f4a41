package proportions

import (
	"cmp"
	"slices"

	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages/algorithms/ppi"
	"mars.dev/mars/stages/internal/labelled"
	"mars.dev/mars/stages/internal/levels"
)

// LevelShares are the shares of the classes of a level. Slices have a value a class. A share is the sum of
// those of its parts at the next level, and so is a number of rows.
type LevelShares struct {
	Level   string   `json:"level"`
	Classes []string `json:"classes"`
	Parents []string `json:"parents,omitempty"` // of the classes, at the level above; nil at the first
	shares
}

// shares are what is known of some classes.
type shares struct {
	Source    []float64 `json:"source"`
	Estimated []float64 `json:"estimated"`
	Lower     []float64 `json:"lower"`
	Upper     []float64 `json:"upper"`
	Rows      []float64 `json:"rows"`
	True      []float64 `json:"true,omitempty"`
	// By labels of some target rows: bounds that hold whatever has shifted, and the estimate without.
	HoldsLower []float64 `json:"holds_lower,omitempty"`
	HoldsUpper []float64 `json:"holds_upper,omitempty"`
	Before     []float64 `json:"before,omitempty"`
}

// own are those of the classes that are learnt.
func (r *Report) own() shares {
	s := shares{Source: r.Proportions.Source, Estimated: r.Proportions.Estimated, Lower: r.Interval.Lower, Upper: r.Interval.Upper, Rows: r.counts(), True: r.Proportions.True}
	if l := r.Labelled; l != nil {
		s.HoldsLower, s.HoldsUpper, s.Before = l.Holds.Lower, l.Holds.Upper, l.Before
	}
	return s
}

// fillLevels says what the shares of all levels are, once those of the finest and the bounds of the coarser
// are known.
func (r *Report) fillLevels() *Report {
	if r.tree == nil {
		return r
	}
	all := r.tree.Levels
	last := len(all) - 1
	r.Levels = make([]LevelShares, len(all))
	r.Levels[last] = LevelShares{Level: all[last].Name, Classes: all[last].Classes, shares: r.own()}
	for l := last - 1; l >= 0; l-- {
		below := &r.Levels[l+1]
		up := r.tree.Above(l + 1)
		below.Parents = make([]string, len(up))
		for c, parent := range up {
			below.Parents[c] = all[l].Classes[parent]
		}
		of := levels.Level{Classes: all[l].Classes, Of: up}
		sums := func(values []float64) []float64 {
			if values == nil {
				return nil
			}
			return levels.Sums(of, values)
		}
		bounds := r.bounds[l]
		r.Levels[l] = LevelShares{Level: all[l].Name, Classes: all[l].Classes, shares: shares{Source: sums(below.Source), Estimated: sums(below.Estimated), Lower: bounds.Lower, Upper: bounds.Upper,
			Rows: sums(below.Rows), True: sums(below.True), HoldsLower: bounds.holds.Lower, HoldsUpper: bounds.holds.Upper, Before: sums(below.Before)}}
	}
	return r
}

// levelBounds are those of the classes of a coarser level.
type levelBounds struct {
	Lower, Upper []float64
	holds        Bounds
}

// boundLevels makes the intervals by the labels of the coarser levels: each is that of the sums.
func (r *Report) boundLevels(rows *labelled.Rows, e *labelled.Evidence, s *ppi.Sample, simultaneous bool) {
	r.tree, r.bounds = r.tree.With(r.Classes), nil
	for _, level := range r.tree.Coarser() {
		each := r.Interval.Level
		if simultaneous {
			each = ppi.Bonferroni(each, len(level.Classes))
		}
		sharper := boundsOf("", 0, s.Grouped(level.Of).Difference(each).Intervals)
		for c, share := range levels.Sums(level, r.Proportions.Estimated) { // which heeds the finer labels too
			sharper.Lower[c], sharper.Upper[c] = min(sharper.Lower[c], share), max(sharper.Upper[c], share)
		}
		holds := guaranteed(rows, e.Rows, s.Uniform, each, level.Of, len(level.Classes))
		r.bounds = append(r.bounds, levelBounds{sharper.Lower, sharper.Upper, holds})
	}
}

// A line is a class of a level as a table for a person has it.
type line struct {
	depth   int
	class   string
	of      *shares
	at      int
	smaller []int // instead of a class, those of the level that share a line
}

// lines are the classes in the order in which they are read: a level's are under that of which they are
// a part, those of many with the largest share first, and the smallest of very many share lines.
func (r *Report) lines(all bool) (lines []line) {
	if r.Levels == nil {
		own, listed := r.own(), r.Listed()
		shown := len(listed)
		if !all {
			shown = min(shown, spelling.MaxListed)
		}
		for _, k := range listed[:shown] {
			lines = append(lines, line{class: r.Classes[k], of: &own, at: k})
		}
		if shown < len(listed) {
			lines = append(lines, line{of: &own, smaller: listed[shown:]})
		}
		return lines
	}
	shown := map[string]bool{}
	for i, k := range r.Listed() {
		shown[r.Classes[k]] = all || i < spelling.MaxListed
	}
	r.under(0, "", func(level int, class int) bool { return r.shows(level, class, shown) }, &lines)
	return lines
}

// shows reports whether a class, or one of its parts, is among those that are shown.
func (r *Report) shows(level, class int, shown map[string]bool) bool {
	name := r.Levels[level].Classes[class]
	if level == len(r.Levels)-1 {
		return shown[name]
	}
	for k, parent := range r.Levels[level+1].Parents {
		if parent == name && r.shows(level+1, k, shown) {
			return true
		}
	}
	return false
}

// under appends the lines of a level's classes that are part of one of the level above.
func (r *Report) under(level int, parent string, shows func(level, class int) bool, lines *[]line) {
	if level == len(r.Levels) {
		return
	}
	of, smaller := &r.Levels[level], []int(nil)
	for _, k := range byShare(of.Estimated, len(r.Classes) > spelling.MaxListed) {
		switch {
		case level > 0 && of.Parents[k] != parent:
		case !shows(level, k):
			smaller = append(smaller, k)
		default:
			*lines = append(*lines, line{depth: level, class: of.Classes[k], of: &of.shares, at: k})
			r.under(level+1, of.Classes[k], shows, lines)
		}
	}
	if smaller != nil {
		*lines = append(*lines, line{depth: level, of: &of.shares, smaller: smaller})
	}
}

// A node is a class of a level.
type node struct {
	depth                int
	class, level, parent string
	of                   *shares
	at                   int // of the class in the slices of its level
}

// nodes are the classes in their order: each of a level is followed by its parts.
func (r *Report) nodes() (nodes []node) {
	if r.Levels == nil {
		own := r.own()
		for k, class := range r.Classes {
			nodes = append(nodes, node{class: class, of: &own, at: k})
		}
		return nodes
	}
	var walk func(level int, parent string)
	walk = func(level int, parent string) {
		if level == len(r.Levels) {
			return
		}
		of := &r.Levels[level]
		for k, class := range of.Classes {
			if level == 0 || of.Parents[k] == parent {
				nodes = append(nodes, node{level, class, of.Level, parent, &of.shares, k})
				walk(level+1, class)
			}
		}
	}
	walk(0, "")
	return nodes
}

// byShare are the numbers of classes, those of the largest share first if they are many.
func byShare(shares []float64, many bool) []int {
	order := make([]int, len(shares))
	for k := range order {
		order[k] = k
	}
	if many {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(shares[b], shares[a]) })
	}
	return order
}
