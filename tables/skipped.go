package tables

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A Skipped is a column of an input that is not read.
type Skipped struct {
	Name string
	Why  string // in few words; "" if others were chosen
	// Values are the different values of a column of text that looks like a category,
	// sorted; nil for others.
	Values []string
}

// String names the column for a message.
func (s Skipped) String() string {
	name := cmp.Or(s.Name, "(no name)")
	if s.Why == "" {
		return name
	}
	return fmt.Sprintf("%s (%s)", name, s.Why)
}

// maxCategory is up to how many different values text is taken for a category.
const maxCategory = 20

const (
	WhyText  = "text" // it may be a category
	whyDates = "dates or times"
	WhyIndex = "row numbers"
	whyBlank = "row numbers, or a separator at the end of the lines"
)

// reservedWhy says why a reserved column is not read.
func reservedWhy(name string) string {
	switch name {
	case "":
		return whyBlank
	case "__index_level_0__":
		return WhyIndex
	case "truth":
		return "the answer"
	}
	return "which domain a row is of"
}

// A tally counts the different values of a column of text, up to a few.
type tally struct {
	values  []string // nil once there are too many
	rows    int
	many    bool
	undated bool // a value is no date
	sampled bool // there are other rows
}

func (t *tally) add(value string) {
	t.rows++
	if t.many || value == "" || slices.Contains(t.values, value) {
		return
	}
	t.undated = t.undated || !dated(value)
	if t.values = append(t.values, strings.Clone(value)); len(t.values) > maxCategory {
		t.values, t.many = nil, true
	}
}

// addField is add of a value with space around it, as few have.
func (t *tally) addField(field string) {
	if slices.Contains(t.values, field) {
		t.rows++
		return
	}
	t.add(strings.TrimSpace(field))
}

// category are the values, sorted, if they are few, and each is there more than once on
// the average.
func (t *tally) category() []string {
	if len(t.values) < 2 || 2*len(t.values) > t.rows {
		return nil
	}
	slices.Sort(t.values)
	return t.values
}

// dated reports whether a value looks like a date or a time.
var dated = regexp.MustCompile(`^(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|\d{1,2}:\d{2}(:\d{2})?)([ T].*)?$`).MatchString

// skip says why a column of text is not read.
func (t *tally) skip(name string) Skipped {
	s := Skipped{Name: name, Why: WhyText}
	switch s.Values = t.category(); {
	case !t.undated && (t.many || len(t.values) > 0):
		return Skipped{Name: name, Why: whyDates}
	case len(t.values) == 1 && !t.sampled:
		s.Why += ", everywhere " + t.values[0]
	}
	return s
}
