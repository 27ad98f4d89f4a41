package tables

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"mars.dev/mars/internal/spelling"
)

// reserved are columns that are features only if they are named: those that hold
// the answer or identify the row.
var reserved = []string{"truth", "domain", "__index_level_0__", ""}

// roles are the indices of columns that are no features, −1 where there is none.
type roles struct {
	label, id, domain, image, batch int
	levels                          []int // in the order of Options.Levels; nil where none are read
}

// noRoles are those of a table of features alone.
var noRoles = roles{-1, -1, -1, -1, -1, nil}

// rolesOf fails if a column that the options name is missing.
func rolesOf(header []string, o Options) (r roles, err error) {
	label, id := o.Label, o.ID
	if (o.noLabels() || o.OptionalLabel || o.Labels != "") && !slices.Contains(header, label) {
		label = "" // a table without labels need not have the label column of the other one
	}
	if o.OptionalID && !slices.Contains(header, id) {
		id = ""
	}
	what := "label"
	if o.Times {
		what = "time"
	}
	for _, c := range []struct {
		at                 *int
		asked, usual, what string
	}{{&r.label, label, "label", what}, {&r.id, id, "id", "id"}, {&r.domain, o.Domain, "", "domain"}, {&r.image, o.Image, "", "image"}, {&r.batch, o.Batch, "", "batch"}} {
		if *c.at, err = role(header, c.asked, c.usual, c.what); err != nil {
			return r, err
		}
	}
	levels, err := levelColumns(header, o)
	if err != nil {
		return r, err
	}
	for _, i := range levels {
		if r.has(i) {
			return r, fmt.Errorf("column %q is one of --levels, and is the label, id, domain, image or batch column: name two columns", header[i])
		}
	}
	r.levels = levels
	switch {
	case r.batch >= 0 && (r.batch == r.label || r.batch == r.image):
		return r, fmt.Errorf("column %q says which batch a row is of, and is the label or image column: name two columns", header[r.batch])
	case r.image >= 0 && (r.image == r.label || r.image == r.domain):
		return r, fmt.Errorf("column %q has the paths of images, and is the label or domain column: name two columns", header[r.image])
	case r.label >= 0 && r.label == r.id:
		return r, fmt.Errorf("column %q is named as label and as id: name two columns", header[r.label])
	case r.domain >= 0 && (r.domain == r.label || r.domain == r.id):
		return r, fmt.Errorf("column %q says which domain a row is of, and is the label or id column: name two columns", header[r.domain])
	}
	return r, nil
}

// has reports whether column i has one of the roles.
func (r roles) has(i int) bool {
	return i == r.label || i == r.id || i == r.domain || i == r.image || i == r.batch || slices.Contains(r.levels, i)
}

// levelColumns are the columns of levels.
func levelColumns(header []string, o Options) (levels []int, err error) {
	for _, name := range o.Levels {
		if o.OptionalLevels && !slices.Contains(header, name) {
			continue
		}
		i, err := role(header, name, "", "level")
		if err != nil {
			return nil, err
		}
		levels = append(levels, i)
	}
	return levels, nil
}

// role is the column that was asked for, or else the usual one: −1 if there is none.
func role(header []string, asked, usual, what string) (int, error) {
	name := cmp.Or(asked, usual)
	if name == "" {
		return -1, nil
	}
	i := slices.Index(header, name)
	if i < 0 && asked != "" {
		return 0, fmt.Errorf("has no column %q (its columns are %s): %sname one of them as the %s column%s", asked, list(header), didYouMean(asked, header), what, likeData(header))
	}
	return i, nil
}

// didYouMean asks about the name of the header that is nearest.
func didYouMean(name string, header []string) string {
	if near := spelling.Nearest(name, header); near != "" {
		return fmt.Sprintf("did you mean %q? Otherwise ", near)
	}
	return ""
}

// likeData says that a header looks like a row: one of its names is a number.
func likeData(header []string) string {
	if blank := len(header) - len(slices.DeleteFunc(slices.Clone(header), func(name string) bool { return name == "" })); 2*blank > len(header) {
		return ". Its first line may be a title: then leave the lines before the names out with --skip-lines"
	}
	for i, name := range header {
		if _, err := parseFloat(name, 64); err == nil && name != strconv.Itoa(i) {
			return fmt.Sprintf(". Its first line may be a row, as %s is a number: then add a line with the columns' names", name)
		}
	}
	return ""
}

// chosen returns the indices of the feature columns that the options name.
func chosen(header []string, r roles, columns []string) ([]int, error) {
	at := positions(header)
	names := expand(columns, header, r)
	features, taken := slices.Grow([]int(nil), len(names)), make([]bool, len(header))
	var absent []string
	for _, name := range names {
		i, ok := at[name]
		switch {
		case !ok:
			absent = append(absent, name)
			continue
		case r.has(i):
			return nil, fmt.Errorf("column %q is the label, id, domain or batch column, or one of levels: do not name it as a feature", name)
		case taken[i]:
			return nil, fmt.Errorf("column %q is named twice as a feature: name it once", name)
		}
		features = append(features, i)
		taken[i] = true
	}
	if absent != nil {
		return nil, &MissingColumns{Absent: absent, Header: header}
	}
	return features, nil
}

// expand puts the columns of the header that a pattern such as m* matches in its place,
// unless a column is called so.
func expand(columns, header []string, r roles) []string {
	if !slices.ContainsFunc(columns, isPattern) {
		return columns
	}
	var names []string
	at, named, taken := positions(header), SetOf(columns), map[string]bool{}
	for _, pattern := range columns {
		if _, there := at[pattern]; there || !isPattern(pattern) {
			names = append(names, pattern)
			continue
		}
		matched := false
		for i, name := range header {
			if r.has(i) || named[name] || !matches(pattern, name) {
				continue
			}
			matched = true
			if !taken[name] {
				taken[name] = true
				names = append(names, name)
			}
		}
		if !matched {
			names = append(names, pattern)
		}
	}
	return names
}

// isPattern reports whether text may match other names than itself.
func isPattern(text string) bool { return strings.ContainsAny(text, `*?[\`) }

// Matcher reports whether one of the names or patterns is of a column.
func Matcher(patterns []string) func(name string) bool {
	names, others := SetOf(patterns), slices.DeleteFunc(slices.Clone(patterns), func(text string) bool { return !isPattern(text) })
	return func(name string) bool {
		return names[name] || slices.ContainsFunc(others, func(pattern string) bool { return matches(pattern, name) })
	}
}

// matches is path.Match, where a slash in a name, as in "GFP/FITC-A", is a letter as any other.
func matches(pattern, name string) bool {
	letter := strings.NewReplacer("/", "\x00")
	ok, err := path.Match(letter.Replace(pattern), letter.Replace(name))
	return pattern == name || err == nil && ok
}

// checkPatterns returns an error if one of the names or patterns is of no column.
func checkPatterns(what string, patterns, header []string) error {
	there := SetOf(header)
	for _, pattern := range patterns {
		if !there[pattern] && !slices.ContainsFunc(header, func(name string) bool { return matches(pattern, name) }) {
			return fmt.Errorf("has no column %q, which --%s names (its columns are %s)", pattern, what, list(header))
		}
	}
	return nil
}

// planned is the plan of the options, or of those that Lacking makes of them, which they
// are then.
func planned[P any](o *Options, plan func(Options) (P, error)) (P, error) {
	p, err := plan(*o)
	lacking := (*MissingColumns)(nil)
	if !errors.As(err, &lacking) {
		return p, err
	}
	lacking.Hint = o.hint
	if o.Lacking == nil {
		return p, err
	}
	others := *o
	if !o.Lacking(&others, lacking) {
		return p, err
	}
	q, failed := plan(others)
	if failed != nil {
		return p, err
	}
	*o = others
	return q, nil
}

// MissingColumns is the error of a table that lacks feature columns.
type MissingColumns struct {
	Absent []string
	Header []string // the columns that it has
	Hint   string   // what else may help, a sentence; "" for nothing
}

func (e *MissingColumns) Error() string {
	near := ""
	if len(e.Absent) == 1 {
		near = didYouMean(e.Absent[0], e.Header)
	}
	return fmt.Sprintf("has no column %s (its columns are %s): %sname feature columns that it has%s%s", e.Names(), list(e.Header), near, likeData(e.Header), e.Hint)
}

// Names are those of the absent columns, in quotes.
func (e *MissingColumns) Names() string {
	quoted := make([]string, len(e.Absent))
	for i, name := range e.Absent {
		quoted[i] = strconv.Quote(name)
	}
	return list(quoted)
}

// Both are the columns among these that the table has.
func (e *MissingColumns) Both(columns []string) []string {
	at := positions(e.Header)
	return slices.DeleteFunc(slices.Clone(columns), func(name string) bool { _, ok := at[name]; return !ok })
}

// positions are the first indices of the names.
func positions(header []string) map[string]int {
	at := make(map[string]int, len(header))
	for i, name := range slices.Backward(header) {
		at[name] = i
	}
	return at
}

// SetOf is the set of some names or columns.
func SetOf[T comparable](all []T) map[T]bool {
	set := make(map[T]bool, len(all))
	for _, v := range all {
		set[v] = true
	}
	return set
}

// maxListed is how many names a message lists.
const maxListed = 12

// list joins names for a message.
func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	if len(names) > maxListed {
		return strings.Join(names[:maxListed], ", ") + fmt.Sprintf(", … (%d in all)", len(names))
	}
	return strings.Join(names, ", ")
}
