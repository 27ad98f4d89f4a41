package sheet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages/algorithms/ppi"
)

// empties are what people and programs write where there is no label.
var empties = []string{"", "na", "n/a", "nan", "null", "none", "?", "<na>"}

// IsEmpty reports whether a cell says that there is no label.
func IsEmpty(label string) bool {
	return strings.TrimSpace(strings.ReplaceAll(label, "\u00a0", " ")) == ""
}

// Answers are the labels of a sheet, by class.
type Answers struct {
	*Filled
	// Classes are the source's, then those that only the labels have.
	Classes []string
	Source  int // how many are the source's
	// Labelled are the rows with a label, in order of drawing, and Class theirs.
	Labelled []Row
	Class    []int
	// Gaps are the orders of rows without a label before the last one with one.
	Gaps []int
	// Told are things to tell the user.
	Told []string
}

// Answers finds the classes of the labels: of the source, whose names are classes, or new. Names
// that were typed otherwise are matched where only one class can be meant. A name that is like
// that of a class, but for a letter or two, is an error. Neither is done to those of fresh: names of
// classes that the source lacks.
func (f *Filled) Answers(classes, fresh []string) (*Answers, error) {
	a := &Answers{Filled: f, Classes: slices.Clone(classes), Source: len(classes)}
	for _, name := range fresh {
		if slices.Contains(classes, name) {
			return nil, fmt.Errorf("%s: the source has the class %q, which --new-class names as one that it lacks: leave it out there", f.Path, name)
		}
	}
	last := 0
	for _, row := range f.Rows {
		if row.Label == "" {
			continue
		}
		k, err := a.classOf(row, fresh)
		if err != nil {
			return nil, err
		}
		if k < 0 {
			continue // nobody could say
		}
		a.Labelled, a.Class, last = append(a.Labelled, row), append(a.Class, k), row.Order
	}
	if len(a.Labelled) == 0 {
		return nil, fmt.Errorf("%s: no row has a label in the column %q: fill it in, from the first row on", f.Path, f.Column)
	}
	for _, name := range fresh {
		if !slices.Contains(a.Fresh(), name) {
			return nil, fmt.Errorf("%s: no row has the label %q, which --new-class names (classes that only labels have: %s): write it as the table does", f.Path, name, cmp.Or(spelling.List(a.Fresh()), "none"))
		}
	}
	a.findGaps(last)
	a.Told = append([]string{a.count()}, a.Told...)
	return a, nil
}

// classOf is the class of a row's label, which may be a new one; −1 if it says that nobody knows.
func (a *Answers) classOf(row Row, fresh []string) (int, error) {
	name := strings.TrimSpace(row.Label)
	if k := slices.Index(a.Classes, row.Label); k >= 0 {
		return k, nil
	}
	if slices.Contains(fresh, name) {
		return a.add(name), nil
	}
	var like []int
	for k, class := range a.Classes {
		if spelling.Plain(class) == spelling.Plain(row.Label) {
			like = append(like, k)
		}
	}
	where := fmt.Sprintf("%s: %s has the label %q", a.Path, row.name(), row.Label)
	switch {
	case len(like) == 1:
		a.tell(fmt.Sprintf("the label %q is taken for the class %q", row.Label, a.Classes[like[0]]))
		return like[0], nil
	case len(like) > 1:
		return 0, fmt.Errorf("%s, which may be %q or %q: write it as the source does", where, a.Classes[like[0]], a.Classes[like[1]])
	case slices.Contains(empties, spelling.Plain(row.Label)):
		a.tell(fmt.Sprintf("the label %q is taken for none", row.Label))
		return -1, nil
	}
	if meant := nearestOf(row.Label, a.Classes); meant != "" {
		return 0, fmt.Errorf("%s, which is no class of the source: did you mean %q? If it is a class that the source lacks, say so with --new-class %q", where, meant, row.Label)
	}
	return a.add(name), nil
}

// add is a class that the source lacks, which may have been added before.
func (a *Answers) add(name string) int {
	if k := slices.Index(a.Fresh(), name); k >= 0 {
		return a.Source + k
	}
	a.Classes = append(a.Classes, name)
	return len(a.Classes) - 1
}

// tell keeps something to tell, once.
func (a *Answers) tell(text string) {
	if !slices.Contains(a.Told, text) {
		a.Told = append(a.Told, text)
	}
}

// findGaps finds the rows without a label up to the last one with one.
func (a *Answers) findGaps(last int) {
	at := 0
	for order := 1; order <= last; order++ {
		if a.Labelled[at].Order == order {
			at++
			continue
		}
		a.Gaps = append(a.Gaps, order)
	}
}

// count says how many rows have a label.
func (a *Answers) count() string {
	n, m := len(a.Labelled), a.Plan.Rows()
	if n == m {
		return fmt.Sprintf("all %d rows have a label", m)
	}
	return fmt.Sprintf("%d of %d rows have a label", n, m)
}

// Fresh are the classes that only the labels have.
func (a *Answers) Fresh() []string { return a.Classes[a.Source:] }

// Reached is how many rows each part has up to the last one with a label.
func (a *Answers) Reached() (uniform, chosen int) {
	return ppi.Reached(a.Labelled[len(a.Labelled)-1].Order, a.Plan.Uniform, a.Plan.Chosen)
}
