package gate

import "slices"

// An Assumption is what may have happened between the source and the target. Package hedge has what
// follows from each.
type Assumption struct {
	Name  string
	Words string // a clause
	Moves bool   // whether it takes the source's rows to have moved
}

// Assumptions are those that are weighed.
var Assumptions = []Assumption{
	{"same", "nothing has changed", false},
	{"balance", "only the proportions have changed", false},
	{"together", "all rows have moved alike", true},
	{"classes", "each class has moved by itself", true},
	{"parts", "each part of a class has moved by itself", true},
}

// Views are the names of the assumptions.
var Views = func() (names []string) {
	for _, a := range Assumptions {
		names = append(names, a.Name)
	}
	return names
}()

// Of returns the assumption of a view. That of a name that is none has the name for its words.
func Of(view string) Assumption {
	if i := index(view); i >= 0 {
		return Assumptions[i]
	}
	return Assumption{Name: view, Words: view, Moves: true}
}

func index(view string) int { return slices.Index(Views, view) }
