// Package levels holds classes of several levels: which class is part of which. What is learnt are the
// classes of the last level; posteriors and shares of the others are sums of theirs, so that levels agree.
package levels

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/tables"
)

// A Tree is levels, the coarsest first. The last has the classes that are learnt.
type Tree struct{ Levels []Level }

// A Level is the classes of one level.
type Level struct {
	Name    string
	Classes []string
	Of      []int // the index in Classes of each class of the last level
}

// New is the tree of levels by name, of which the last has the classes. cells say of each row of which
// class it is at each level, a slice a level; "" is not known, and the others then say it for the class.
// Each class has to be part of one class of the level above. place says where a row is.
func New(names []string, cells [][]string, classes []string, place func(row int) string) (*Tree, error) {
	if err := checkNames(names); err != nil {
		return nil, err
	}
	last := len(names) - 1
	t, known := &Tree{Levels: make([]Level, len(names))}, tables.SetOf(classes)
	t.Levels[last] = newLevel(names[last], classes, classes)
	of, below := classes, make([]string, len(cells[last])) // the class of the level below: of classes and rows
	for i, name := range cells[last] {
		if known[name] {
			below[i] = name
		}
	}
	for l := last - 1; l >= 0; l-- {
		up, err := parents(names[l:l+2], cells[l], below, place)
		if err != nil {
			return nil, err
		}
		if of, err = above(of, up, names[l:l+2]); err != nil {
			return nil, err
		}
		for i, name := range below {
			below[i] = up[name]
		}
		t.Levels[l] = newLevel(names[l], tables.Classes(of), of)
	}
	return t, nil
}

// above are the classes above those of each class.
func above(of []string, up map[string]string, names []string) (parents []string, err error) {
	for _, name := range of {
		parent, there := up[name]
		if !there {
			return nil, fmt.Errorf("no row says of which class of level %q the class %q of level %q is a part: say it in one of its rows", names[0], name, names[1])
		}
		parents = append(parents, parent)
	}
	return parents, nil
}

// checkNames refuses names that levels cannot have.
func checkNames(names []string) error {
	for i, name := range names {
		switch {
		case name == "":
			return errors.New("a level has no name: name its column")
		case slices.Contains(names[:i], name):
			return fmt.Errorf("two levels are called %q: name each once", name)
		case name == "class" || name == "level":
			return fmt.Errorf("a level cannot be called %q, as predicted_%s is another column of labels: rename its column", name, name)
		}
	}
	return nil
}

func newLevel(name string, classes, of []string) Level {
	l := Level{Name: name, Classes: classes}
	for _, class := range of {
		l.Of = append(l.Of, slices.Index(classes, class))
	}
	return l
}

// said is how many rows say that a class is part of another, and the first of them.
type said struct {
	parent      string
	rows, first int
}

// parents says of which class of a level each class of the next is a part, by rows with a value of each.
func parents(names, cells, below []string, place func(int) string) (map[string]string, error) {
	all := map[string][]said{} // by class
	for i, parent := range cells {
		class := below[i]
		if parent == "" || class == "" {
			continue
		}
		at := slices.IndexFunc(all[class], func(s said) bool { return s.parent == parent })
		if at < 0 {
			at = len(all[class])
			all[class] = append(all[class], said{parent, 0, i})
		}
		all[class][at].rows++
	}
	up := map[string]string{}
	for _, class := range slices.Sorted(maps.Keys(all)) {
		of := all[class]
		if len(of) > 1 {
			slices.SortStableFunc(of, func(a, b said) int { return b.rows - a.rows })
			return nil, fmt.Errorf("the class %q of level %q is part of %q in %s and of %q in %s (the first is %s), at level %q: a class is part of one: mend the rows, or give the class two names",
				class, names[1], of[0].parent, spelling.Count(of[0].rows, "row", "rows"), of[1].parent, spelling.Count(of[1].rows, "row", "rows"), place(of[1].first), names[0])
		}
		up[class] = of[0].parent
	}
	return up, nil
}

// written is a level in the metadata of streams and models: its name, and of each class of the last level
// its own class. The last level, which has the classes themselves, leaves that out.
type written struct {
	Name string   `json:"name"`
	Of   []string `json:"of,omitempty"`
}

// Text is the tree as streams and models carry it (arrowio.LevelsKey); nil of nil.
func (t *Tree) Text() json.RawMessage {
	if t == nil {
		return nil
	}
	var all []written
	for l := range t.Levels {
		w := written{Name: t.Levels[l].Name}
		if l < len(t.Levels)-1 {
			for _, k := range t.Levels[l].Of {
				w.Of = append(w.Of, t.Levels[l].Classes[k])
			}
		}
		all = append(all, w)
	}
	text, err := json.Marshal(all)
	if err != nil { // text never fails
		panic(err)
	}
	return text
}

// Parse reads what Text writes, for the classes of the last level. There is no tree in "": it is nil.
func Parse(text string, classes []string) (*Tree, error) {
	if text == "" {
		return nil, nil
	}
	var all []written
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return nil, fmt.Errorf("%s: %w: drop or repair the key", arrowio.LevelsKey, err)
	}
	var cells [][]string
	var names []string
	for l, w := range all {
		names = append(names, w.Name)
		if l == len(all)-1 {
			w.Of = classes
		}
		if len(w.Of) != len(classes) {
			return nil, fmt.Errorf("%s: level %q has %d classes, and there are %d: drop or repair the key", arrowio.LevelsKey, w.Name, len(w.Of), len(classes))
		}
		cells = append(cells, w.Of)
	}
	if len(names) == 0 {
		return nil, nil
	}
	t, err := New(names, cells, classes, func(k int) string { return fmt.Sprintf("class %d", k) })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", arrowio.LevelsKey, err)
	}
	return t, nil
}

// OfSchema is the tree of a stream's classes; nil if it has none.
func OfSchema(schema *arrow.Schema, classes []string) (*Tree, error) {
	text, _ := schema.Metadata().GetValue(arrowio.LevelsKey)
	return Parse(text, classes)
}

// Of is the tree of a text that has been parsed before.
func Of(text string, classes []string) *Tree {
	t, err := Parse(text, classes)
	if err != nil {
		panic("levels: " + err.Error())
	}
	return t
}

// Above says of each class of a level, which is not the first, of which class of the level above it is a
// part.
func (t *Tree) Above(level int) []int {
	up := make([]int, len(t.Levels[level].Classes))
	for k, c := range t.Levels[level].Of {
		up[c] = t.Levels[level-1].Of[k]
	}
	return up
}

// Coarser are the levels but the last; none of nil.
func (t *Tree) Coarser() []Level {
	if t == nil {
		return nil
	}
	return t.Levels[:len(t.Levels)-1]
}

// Groups says of each class, for each of Coarser, of which of its classes it is a part.
func (t *Tree) Groups() (groups [][]int) {
	for _, l := range t.Coarser() {
		groups = append(groups, l.Of)
	}
	return groups
}

// With is the tree with more classes at the end, of which nobody says what they are part of: each is a
// class of its own at each level.
func (t *Tree) With(classes []string) *Tree {
	if t == nil || len(classes) == len(t.Last().Classes) {
		return t
	}
	wide := &Tree{}
	for _, l := range t.Levels {
		l.Classes, l.Of = slices.Clone(l.Classes), slices.Clone(l.Of)
		for _, name := range classes[len(l.Of):] {
			l.Of = append(l.Of, len(l.Classes))
			l.Classes = append(l.Classes, name)
		}
		wide.Levels = append(wide.Levels, l)
	}
	return wide
}

// Last is the level of the classes that are learnt.
func (t *Tree) Last() Level { return t.Levels[len(t.Levels)-1] }

// Sums are what values of the classes of the last level come to, by class of this one.
func Sums[T float32 | float64](l Level, values []T) []T {
	sums := make([]T, len(l.Classes))
	for k, v := range values {
		sums[l.Of[k]] += v
	}
	return sums
}

// Decide chooses a class of each level by the posteriors of the last: that of the greatest sum at the
// first, and of its parts, level by level, that of the greatest. So levels agree. It returns the classes
// and their posteriors.
func (t *Tree) Decide(posteriors []float32) (classes []int, sums []float32) {
	inside := func(int) bool { return true }
	for _, l := range t.Levels {
		of := Sums(l, posteriors)
		best := -1
		for k := range posteriors {
			if c := l.Of[k]; inside(k) && (best < 0 || of[c] > of[best]) {
				best = c
			}
		}
		classes, sums = append(classes, best), append(sums, of[best])
		inside = func(k int) bool { return l.Of[k] == best }
	}
	return classes, sums
}

// Fields are the columns of labels by level: of each predicted_LEVEL and confidence_LEVEL; none of nil.
func (t *Tree) Fields() (fields []arrow.Field) {
	if t == nil {
		return nil
	}
	for _, l := range t.Levels {
		fields = append(fields, arrow.Field{Name: "predicted_" + l.Name, Type: arrow.BinaryTypes.String, Nullable: true},
			arrow.Field{Name: "confidence_" + l.Name, Type: arrow.PrimitiveTypes.Float32, Nullable: true})
	}
	return fields
}

// Columns are the values of Fields: of rows what Decide gives by their posteriors, but for rows that are
// missing, which are null, and those that are like none of the source, of which the label says so.
func (t *Tree) Columns(posteriors arrowio.Vectors, missing, strange map[int]bool, label string) (columns []arrow.Array) {
	names, sums := make([][]string, len(t.Levels)), make([][]float32, len(t.Levels))
	for i := range posteriors.Rows {
		classes, p := t.Decide(posteriors.Row(i))
		for l, k := range classes {
			name := t.Levels[l].Classes[k]
			if strange[i] {
				name = label
			}
			names[l], sums[l] = append(names[l], name), append(sums[l], p[l])
		}
	}
	for l := range t.Levels {
		columns = append(columns, arrowio.NewStringsWithout(names[l], missing), arrowio.NewFloatsWithout(sums[l], missing))
	}
	return columns
}

// Flat is a tree of one level, which has no name.
func Flat(classes []string) *Tree { return &Tree{[]Level{newLevel("", classes, classes)}} }
