package featurize

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/featurize/format"
)

const (
	// minIdentityRows is how many rows a column needs to be taken for an identity.
	minIdentityRows = 20
	// maxRepeated is the share of rows whose value another row may have in a column of
	// identities that rise, or that are too long for float32 to tell all apart.
	maxRepeated = 0.05
	// expectedRepeats is how many repeated values whole numbers at random in a column's
	// range have to have on the average if it is to be odd that none is repeated: no
	// measurement does that in more than one column of a thousand.
	expectedRepeats = 7
	// longest is the first whole number that float64 does not tell from the next: what is
	// measured has fewer digits.
	longest = 1 << 53
	// repeatedValues is how often each value of a code is there on the average.
	repeatedValues = 5
	// glanceRows is how many rows tell most columns from a copy of the label.
	glanceRows = 256
	// maxNamed is how many columns a message names.
	maxNamed = 20
)

// identityName matches names of columns of identities.
var identityName = regexp.MustCompile(`(?i)^(id|ids|uuid|guid|key|index|idx|nr|no|row|barcode|unnamed: ?\d+|(row|cell|event|sample|case|record|patient|subject)[-_ .]?(id|nr|no|num|number|index|idx|key)|event ?#)$|[-_ .](id|uuid|idx|index|key|barcode)$|(?-i:[a-z]I[dD])$`)

// withoutIdentities returns the columns of a table but for those that are taken for
// identities, with a warning.
func withoutIdentities(env stages.Env, t *format.Table) []string {
	ids := identities(t, t.Columns)
	if len(ids) == 0 || len(ids) == len(t.Columns) {
		return t.Columns
	}
	env.Logger().Warn(fmt.Sprintf("%s: columns that are left out, because they have another whole number in each row, as identities do: %s: choose them with --columns if they are features", t.Name, nameColumns(ids)))
	return slices.DeleteFunc(slices.Clone(t.Columns), func(name string) bool { return slices.Contains(ids, name) })
}

// identities are the names of the columns that are taken for identities.
func identities(t *format.Table, names []string) (ids []string) {
	if t.Features.Rows < minIdentityRows || len(names) != t.Features.Cols {
		return nil
	}
	for j, name := range names {
		if isIdentity(t, j, name) {
			ids = append(ids, name)
		}
	}
	return ids
}

// warnOfNumbers warns of identities in an array, whose columns have no names by which they
// could be left out.
func warnOfNumbers(env stages.Env, t *format.Table) {
	if t == nil || t.Columns != nil || len(t.Shape) != 1 {
		return
	}
	names := make([]string, t.Features.Cols)
	for j := range names {
		names[j] = strconv.Itoa(j + 1)
	}
	if ids := identities(t, names); len(ids) > 0 {
		env.Logger().Warn(fmt.Sprintf("%s: columns of the array that have another whole number in each row, as identities do (counted from 1): %s: if they are, leave them out of the array", t.Name, nameColumns(ids)))
	}
}

// isIdentity reports whether column j is row numbers or keys, which say nothing of other
// rows: whole numbers that are all different, and which rise (or fall) from row to row, are
// called an identity, have more digits than a measurement, or lie so close together that
// numbers at random would not all be different. Counts, such as fluorescence of 18 bits,
// and wide keys in no order and without a name that says so are features.
func isIdentity(t *format.Table, j int, name string) bool {
	x := t.Features
	seen, rises, falls, long := make(map[float32]bool, min(x.Rows, 1<<16)), true, true, 0
	low, high := float32(math.Inf(1)), float32(math.Inf(-1))
	for i := range x.Rows {
		v := x.Data[i*x.Stride+j]
		if v != float32(math.Trunc(float64(v))) {
			return false
		}
		if i > 0 {
			before := x.Data[(i-1)*x.Stride+j]
			rises, falls = rises && v >= before, falls && v <= before
		}
		if v >= longest || v <= -longest {
			long++
		}
		low, high = min(low, v), max(high, v)
		seen[v] = true
		if float64(i+1-len(seen)) > maxRepeated*float64(x.Rows) {
			return false
		}
	}
	if rises || falls || 2*long > x.Rows {
		return true
	}
	n := float64(x.Rows)
	exact := high < 1<<24 && low > -1<<24 // float32 tells these apart
	all := len(seen) == x.Rows || !exact
	return all && (identityName.MatchString(name) || exact && n*(n-1)/2 > expectedRepeats*(float64(high)-float64(low)+1))
}

// tellColumns says which columns are not read, and why: a warning where text looks as if
// it said something.
func tellColumns(env stages.Env, source, target *format.Table, o Options) {
	for _, t := range []*format.Table{source, target} {
		if t == nil || t == target && source != nil && source.Name == target.Name {
			continue
		}
		var categories, rest []string
		for _, s := range t.Skipped {
			switch known := t == target && source != nil && slices.ContainsFunc(source.Skipped, func(k format.Skipped) bool { return k.Name == s.Name }); {
			case known:
			case s.Values != nil && s.Why == format.WhyText && o.side(arrowio.SourceDomain).Format.Columns == nil && t == source:
				categories = append(categories, fmt.Sprintf("%s (%s)", s.Name, nameValues(s.Values)))
			case t == target && source != nil && s.Why == "":
				rest = append(rest, format.Skipped{Name: s.Name, Why: "no feature of " + source.Name}.String())
			default:
				rest = append(rest, s.String())
			}
		}
		if len(categories) > 0 {
			env.Logger().Warn(fmt.Sprintf("%s: columns of text that are not used: %s: if they say something of the class, make numbers of them, such as a column of 0 and 1 for each value", t.Name, nameColumns(categories)))
		}
		if len(rest) > 0 {
			env.Logger().Info(fmt.Sprintf("%s: columns not used: %s", t.Name, nameColumns(rest)), "choose with", "--columns")
		}
	}
	warnOfNumbers(env, source)
	warnOfOneFile(env, source, target, o)
}

// warnOfOneFile warns if all rows are source and target at once.
func warnOfOneFile(env stages.Env, source, target *format.Table, o Options) {
	if source == nil || target == nil || !o.oneFile() || o.Source.drawn() || o.Target.drawn() {
		return
	}
	say := "if a column says which domain a row is of, name it with --domain-column"
	for _, s := range source.Skipped {
		if len(s.Values) > 0 {
			say = fmt.Sprintf("if a column says which domain a row is of, name it, as in --domain-column %s (whose values are %s)", shell([]string{s.Name}), nameValues(s.Values))
			break
		}
	}
	env.Logger().Warn(fmt.Sprintf("%s is source and target, so each of its %d rows is both: %s", source.Name, source.Features.Rows, say))
}

// drawn reports whether only some rows of the file are drawn.
func (o SideOptions) drawn() bool { return o.Rows > 0 || o.MaxRows > 0 || o.Proportions != "" }

// warnOfCopies warns of columns that tell the source's classes apart by themselves, as a
// copy of the label does, and of columns that tell the domains apart by themselves.
func warnOfCopies(env stages.Env, source, target *format.Table) {
	if source == nil || source.Features.Rows < minIdentityRows || len(source.Columns) != source.Features.Cols {
		return
	}
	var copies, sides []string
	for j, name := range source.Columns {
		if source.Labels != nil && separates(source, j) {
			copies = append(copies, name)
		}
		if target != nil && slices.Equal(target.Columns, source.Columns) && apart(source, target, j) {
			sides = append(sides, name)
		}
	}
	for _, few := range []struct {
		columns      []string
		one, several string
	}{
		{copies, "tells all classes of the source apart by itself: if it is a copy of the label, leave it out with --columns",
			"tell all classes of the source apart, each by itself: if they are copies of the label, leave them out with --columns"},
		{sides, "has no value of the target within its values of the source: if it says which file a row is from, leave it out with --columns",
			"have no value of the target within their values of the source: if they say which file a row is from, leave them out with --columns"},
	} {
		switch len(few.columns) {
		case 0:
		case 1:
			env.Logger().Warn(fmt.Sprintf("column %q %s", few.columns[0], few.one))
		default:
			env.Logger().Warn(fmt.Sprintf("columns %s %s", nameColumns(few.columns), few.several))
		}
	}
}

// separates reports whether column j tells the classes apart: its rows sorted by it are
// together by class, or it is a code, each of whose values is of one class.
func separates(t *format.Table, j int) bool {
	n := t.Features.Rows
	if n > 2*glanceRows {
		few := make([]int, glanceRows)
		for k := range few {
			few[k] = k * n / glanceRows
		}
		if together, code := tells(t, j, few); !together && !code {
			return false
		}
	}
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	together, code := tells(t, j, rows)
	return together || code
}

// tells sorts rows by column j. together says that the rows of each class are then side by
// side, and code that rows of one value are of one class; code is true of the whole table
// only if the values are repeated. Of one class nothing can be said.
func tells(t *format.Table, j int, rows []int) (together, code bool) {
	value := func(i int) float32 { return t.Features.Data[i*t.Features.Stride+j] }
	slices.SortFunc(rows, func(a, b int) int {
		return cmp.Or(cmp.Compare(value(a), value(b)), strings.Compare(t.Labels[a], t.Labels[b]))
	})
	ended, values := map[string]bool{}, 1
	together = true
	for k := 1; k < len(rows); k++ {
		same := value(rows[k-1]) == value(rows[k])
		if !same {
			values++
		}
		before, now := t.Labels[rows[k-1]], t.Labels[rows[k]]
		if before == now {
			continue
		}
		if same {
			return false, false
		}
		together = together && !ended[now]
		ended[before] = true
	}
	whole := len(rows) == t.Features.Rows
	if whole && len(ended) == 0 {
		return false, false
	}
	return together, !whole || values*repeatedValues <= len(rows)
}

// apart reports whether column j tells two tables apart: its ranges in them do not
// overlap, or it is a code whose values in one are none of the other.
func apart(a, b *format.Table, j int) bool {
	lowA, highA := bounds(a, j)
	lowB, highB := bounds(b, j)
	if lowA > highB || lowB > highA {
		return true
	}
	codesA, codesB := codes(a, j), codes(b, j)
	if codesA == nil || codesB == nil {
		return false
	}
	for v := range codesA {
		if codesB[v] {
			return false
		}
	}
	return true
}

// codes are the values of column j; nil if they are many.
func codes(t *format.Table, j int) map[float32]bool {
	most := min(t.Features.Rows/repeatedValues, glanceRows)
	seen := map[float32]bool{}
	for i := range t.Features.Rows {
		if seen[t.Features.Data[i*t.Features.Stride+j]] = true; len(seen) > most {
			return nil
		}
	}
	return seen
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

// nameValues lists the values of a category.
func nameValues(values []string) string {
	const most = 5
	if len(values) <= most {
		return strings.Join(values, ", ")
	}
	return fmt.Sprintf("%s … %d values", strings.Join(values[:most], ", "), len(values))
}
