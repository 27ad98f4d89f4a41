package format

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// reserved are columns that are features only if they are named: those that hold
// the answer or identify the row.
var reserved = []string{"truth", "domain", "__index_level_0__", ""}

// roles are the indices of columns that are no features, −1 where there is none.
type roles struct{ label, id, domain int }

// rolesOf fails if a column that the options name is missing.
func rolesOf(header []string, o Options) (r roles, err error) {
	label, id := o.Label, o.ID
	if (o.noLabels() || o.OptionalLabel) && !slices.Contains(header, label) {
		label = "" // a table without labels need not have the label column of the other one
	}
	if o.OptionalID && !slices.Contains(header, id) {
		id = ""
	}
	if r.label, err = role(header, label, "label", "label"); err != nil {
		return r, err
	}
	if r.id, err = role(header, id, "id", "id"); err != nil {
		return r, err
	}
	r.domain = -1
	if o.Domain != "" {
		if r.domain, err = role(header, o.Domain, "", "domain"); err != nil {
			return r, err
		}
	}
	switch {
	case r.label >= 0 && r.label == r.id:
		return r, fmt.Errorf("column %q is named as label and as id: name two columns", header[r.label])
	case r.domain >= 0 && (r.domain == r.label || r.domain == r.id):
		return r, fmt.Errorf("column %q says which domain a row is of, and is the label or id column: name two columns", header[r.domain])
	}
	return r, nil
}

// has reports whether column i has one of the roles.
func (r roles) has(i int) bool { return i == r.label || i == r.id || i == r.domain }

func role(header []string, asked, usual, what string) (int, error) {
	i := slices.Index(header, orDefault(asked, usual))
	if i < 0 && asked != "" {
		return 0, fmt.Errorf("has no column %q (its columns are %s): name one of them as the %s column", asked, list(header), what)
	}
	return i, nil
}

// chosen returns the indices of the feature columns that the options name.
func chosen(header []string, r roles, columns []string) ([]int, error) {
	at := positions(header)
	var features []int
	taken := map[int]bool{}
	var absent []string
	for _, name := range columns {
		i, ok := at[name]
		switch {
		case !ok:
			absent = append(absent, name)
			continue
		case r.has(i):
			return nil, fmt.Errorf("column %q is the label, id or domain column: do not name it as a feature", name)
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

// MissingColumns is the error of a table that lacks feature columns.
type MissingColumns struct {
	Absent []string
	Header []string // the columns that it has
}

func (e *MissingColumns) Error() string {
	return fmt.Sprintf("has no column %s (its columns are %s): name feature columns that it has", e.Names(), list(e.Header))
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

// setOf is the set of some columns.
func setOf(columns []int) map[int]bool {
	set := make(map[int]bool, len(columns))
	for _, i := range columns {
		set[i] = true
	}
	return set
}

func orDefault(name, usual string) string {
	if name == "" {
		return usual
	}
	return name
}

// A textPlan says what each column of a text table is for.
type textPlan struct {
	header   []string
	features []int
	roles
	open    bool // no features were named
	decimal byte
	skipped []int
	tallies []tally // of skipped, if features are open
}

func planText(header []string, o Options) (*textPlan, error) {
	p := &textPlan{header: header, open: len(o.Columns) == 0, decimal: o.Decimal}
	var err error
	if p.roles, err = rolesOf(header, o); err != nil {
		return nil, err
	}
	p.features, err = chosen(header, p.roles, o.Columns)
	return p, err
}

// settle decides by the first row which columns are features if none were named:
// those whose value is a number or missing. If a later value is neither, that is
// an error; the column is not dropped in silence.
func (p *textPlan) settle(record []string) error {
	named := setOf(p.features)
	for i, name := range p.header {
		switch {
		case p.has(i) || named[i]:
			continue
		case p.open && !slices.Contains(reserved, name):
			field := strings.TrimSpace(record[i])
			_, err := p.number(field, 64)
			if err == nil || isMissing(field) {
				p.features = append(p.features, i)
				continue
			}
			if err := p.otherDecimal(name, field); err != nil {
				return err
			}
		}
		p.skipped = append(p.skipped, i)
	}
	p.tallies = make([]tally, len(p.skipped))
	return nil
}

// names returns the names of the feature columns and the unused columns.
func (p *textPlan) names() (features []string, skipped []Skipped) {
	for _, i := range p.features {
		features = append(features, p.header[i])
	}
	for k, i := range p.skipped {
		name := p.header[i]
		switch {
		case slices.Contains(reserved, name):
			skipped = append(skipped, Skipped{Name: name, Why: reservedWhy(name), Values: p.tallies[k].category()})
		case p.open:
			skipped = append(skipped, p.tallies[k].skip(name))
		default:
			skipped = append(skipped, Skipped{Name: name})
		}
	}
	return features, skipped
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
