package proportions

import (
	"cmp"
	"fmt"
	"slices"

	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages/algorithms/ppi"
	"mars.dev/mars/stages/internal/labelled"
	"mars.dev/mars/stages/internal/levels"
)

// LevelShares are the shares of the classes of a level. Slices have a value a class. A share is the sum of
// those of its parts at the next level, and so is a number of rows.
type LevelShares struct {
	Level     string    `json:"level"`
	Classes   []string  `json:"classes"`
	Parents   []string  `json:"parents,omitempty"` // of the classes, at the level above; nil at the first
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
func (r *Report) own() LevelShares {
	s := LevelShares{Classes: r.Classes, Source: r.Proportions.Source, Estimated: r.Proportions.Estimated, Lower: r.Interval.Lower, Upper: r.Interval.Upper, Rows: r.counts(), True: r.Proportions.True}
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
	r.Levels[last] = r.own()
	r.Levels[last].Level = all[last].Name
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
		r.Levels[l] = LevelShares{Level: all[l].Name, Classes: all[l].Classes, Source: sums(below.Source), Estimated: sums(below.Estimated), Lower: bounds.Lower, Upper: bounds.Upper,
			Rows: sums(below.Rows), True: sums(below.True), HoldsLower: bounds.holds.Lower, HoldsUpper: bounds.holds.Upper, Before: sums(below.Before)}
	}
	return r
}

// CheckLevels returns an error if the levels of a report that was read do not have a value a class.
func (r *Report) CheckLevels() error {
	for l, of := range r.Levels {
		n := len(of.Classes)
		parents := []int{n, len(of.Parents)}[min(l, 1)]
		for _, values := range [][]float64{of.Source, of.Estimated, of.Lower, of.Upper, of.Rows} {
			if len(values) != n || parents != n || of.True != nil && len(of.True) != n || (of.True == nil) != (r.Proportions.True == nil) {
				return fmt.Errorf("level %q has other numbers of values than of classes: write the report again", of.Level)
			}
		}
	}
	return nil
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

// A Line is a class of a level as a table for a person has it.
type Line struct {
	Depth   int    // its level: 0 is the coarsest
	Class   string // "" of a line of several
	Of      *LevelShares
	At      int   // of the class in them
	Smaller []int // instead of a class, those of the level that share a line
}

// Name is what a line calls its class, or its classes.
func (l Line) Name() string {
	switch {
	case l.Smaller == nil:
		return l.Class
	case l.Depth > 0:
		return fmt.Sprintf("and %d smaller", len(l.Smaller))
	}
	return spelling.Smaller(len(l.Smaller), l.Rest())
}

// Rest is the share of the classes that share a line.
func (l Line) Rest() (sum float64) {
	for _, k := range l.Smaller {
		sum += l.Of.Estimated[k]
	}
	return sum
}

// Lines are the classes in the order in which they are read: a level's are under that of which they are
// a part, those of many with the largest share first, and the smallest of very many share lines.
func (r *Report) Lines(all bool) (lines []Line) {
	if r.Levels == nil {
		own, listed := r.own(), r.Listed()
		shown := len(listed)
		if !all {
			shown = min(shown, spelling.MaxListed)
		}
		for _, k := range listed[:shown] {
			lines = append(lines, Line{Class: r.Classes[k], Of: &own, At: k})
		}
		if shown < len(listed) {
			lines = append(lines, Line{Of: &own, Smaller: listed[shown:]})
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
func (r *Report) under(level int, parent string, shows func(level, class int) bool, lines *[]Line) {
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
			*lines = append(*lines, Line{Depth: level, Class: of.Classes[k], Of: of, At: k})
			r.under(level+1, of.Classes[k], shows, lines)
		}
	}
	if smaller != nil {
		*lines = append(*lines, Line{Depth: level, Of: of, Smaller: smaller})
	}
}

// A node is a class of a level.
type node struct {
	depth                int
	class, level, parent string
	of                   *LevelShares
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
				nodes = append(nodes, node{level, class, of.Level, parent, of, k})
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
