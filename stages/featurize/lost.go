package featurize

import (
	"fmt"
	"slices"

	"mars.dev/mars/stages"
	"mars.dev/mars/tables"
)

// A lost looks in the target for columns that have values in the source alone: those that are
// empty, and those that are stuck at one value, as of a sensor that has died or a stain that was
// forgotten. Rows cannot be told apart by them.
type lost struct {
	source  *tables.Table
	own     map[int]*spread // of columns of the source
	spreads []spread        // of the target
	rows    int
	refuse  bool // a missing value is an error, so empty columns are none
}

// newLost returns nil if there is no source to compare with.
func newLost(source *tables.Table, refuse bool) *lost {
	if !tellable(source) {
		return nil
	}
	return &lost{source: source, own: map[int]*spread{}, spreads: newSpreads(len(source.Columns)), refuse: refuse}
}

// add looks at rows of the target. It reports whether later rows could change what find
// returns.
func (l *lost) add(t *tables.Table) (open bool) {
	l.rows += t.Features.Rows
	for j := range l.spreads {
		s := &l.spreads[j]
		for i := 0; i < t.Features.Rows && s.low >= s.high; i++ { // one value so far, or none
			s.add(t.Row(i)[j])
		}
		open = open || l.isEmpty(j) || l.isStuck(j)
	}
	return open
}

func (l *lost) isEmpty(j int) bool { return !l.refuse && l.spreads[j].counted == 0 }

// isStuck is for numbers alone: there is nothing odd in rows of one category.
func (l *lost) isStuck(j int) bool {
	if l.spreads[j].low != l.spreads[j].high || !isNumber(l.source, j) {
		return false
	}
	if l.own[j] == nil {
		l.own[j] = &newSpreads(1)[0]
		l.own[j].addColumn(l.source, j)
	}
	return l.spreads[j].isStuck(l.own[j])
}

// find returns the names of the columns, if others are left.
func (l *lost) find() (empty, stuck []string) {
	if l.rows < minIdentityRows {
		return nil, nil
	}
	left := len(l.spreads)
	for j, name := range l.source.Columns {
		switch {
		case l.isEmpty(j):
			empty = append(empty, name)
		case l.isStuck(j):
			stuck = append(stuck, name)
		default:
			continue
		}
		left--
	}
	if left == 0 {
		return nil, nil
	}
	return slices.Compact(empty), slices.Compact(stuck) // a column of times is two columns
}

// dropLost leaves columns out that the target has lost, if nobody has chosen the columns.
func (st *recipe) dropLost(env stages.Env, source, target *tables.Table) {
	if st.chosen || target == nil || !tellable(source) || !slices.Equal(source.Columns, target.Columns) {
		return
	}
	l := newLost(source, false) // if missing values are refused there are none
	l.add(target)
	empty, stuck := l.find()
	st.leaveOut(env, empty, stuck, target.Name, source, target)
}

// leaveOut leaves out columns that the target has lost, with a warning. There are none without an Encoder: a single column of
// lists is all there is.
func (st *recipe) leaveOut(env stages.Env, empty, stuck []string, target string, source *tables.Table, others ...*tables.Table) {
	if len(empty) > 0 {
		env.Logger().Warn(fmt.Sprintf("%s: columns that are left out, because no row has a value: %s", target, nameColumns(empty)))
		st.Encoder.Drop(empty, "no value in "+target)
	}
	if len(stuck) > 0 {
		env.Logger().Warn(fmt.Sprintf("%s: columns that are left out, because all rows have one value, as of a sensor that has died or a stain that was forgotten, and those of %s have many: %s: choose them with --columns if they are features", target, source.Name, nameColumns(stuck)))
		st.Encoder.Drop(stuck, "one value in "+target)
	}
	if len(empty)+len(stuck) > 0 {
		st.prune(env, source.Name, append(others, source)...)
	}
}
