package format

import (
	"fmt"
	"slices"
	"strings"
)

// reserved are columns that are features only if they are named: those that hold
// the answer or identify the row.
var reserved = []string{"truth", "domain", "__index_level_0__", ""}

// roles returns the indices of the label and id columns, −1 if there is none. It
// fails if a column that the options name is missing.
func roles(header []string, o Options) (label, id int, err error) {
	asked := o.Label
	if o.NoLabels && !slices.Contains(header, asked) {
		asked = "" // a table without labels need not have the label column of the other one
	}
	if label, err = role(header, asked, "label"); err != nil {
		return 0, 0, err
	}
	if id, err = role(header, o.ID, "id"); err != nil {
		return 0, 0, err
	}
	if label >= 0 && label == id {
		return 0, 0, fmt.Errorf("column %q is named as label and as id: name two columns", header[label])
	}
	return label, id, nil
}

func role(header []string, asked, usual string) (int, error) {
	i := slices.Index(header, orDefault(asked, usual))
	if i < 0 && asked != "" {
		return 0, fmt.Errorf("has no column %q (its columns are %s): name one of them as the %s column", asked, list(header), usual)
	}
	return i, nil
}

// chosen returns the indices of the feature columns that the options name.
func chosen(header []string, label, id int, columns []string) ([]int, error) {
	at := positions(header)
	var features []int
	taken := map[int]bool{}
	for _, name := range columns {
		i, ok := at[name]
		switch {
		case !ok:
			return nil, fmt.Errorf("has no column %q (its columns are %s): name feature columns that it has", name, list(header))
		case i == label || i == id:
			return nil, fmt.Errorf("column %q is the label or id column: do not name it as a feature", name)
		case taken[i]:
			return nil, fmt.Errorf("column %q is named twice as a feature: name it once", name)
		}
		features = append(features, i)
		taken[i] = true
	}
	return features, nil
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
	header    []string
	features  []int
	label, id int // -1 if there is none
	open      bool
}

func planText(header []string, o Options) (*textPlan, error) {
	p := &textPlan{header: header}
	var err error
	if p.label, p.id, err = roles(header, o); err != nil {
		return nil, err
	}
	p.features, err = chosen(header, p.label, p.id, o.Columns)
	p.open = len(o.Columns) == 0
	return p, err
}

// settle decides by the first row which columns are features if none were named:
// those whose value is a number or missing. If a later value is neither, that is
// an error; the column is not dropped in silence.
func (p *textPlan) settle(record []string) {
	if !p.open {
		return
	}
	for i, name := range p.header {
		if i == p.label || i == p.id || slices.Contains(reserved, name) {
			continue
		}
		field := strings.TrimSpace(record[i])
		_, err := parseNumber(field, 64)
		if err == nil || slices.Contains(missing, strings.ToLower(field)) {
			p.features = append(p.features, i)
		}
	}
}

// names returns the names of the feature columns and of the unused columns.
func (p *textPlan) names() (features, skipped []string) {
	used := setOf(p.features)
	for _, i := range p.features {
		features = append(features, p.header[i])
	}
	for i, name := range p.header {
		if i != p.label && i != p.id && !used[i] {
			skipped = append(skipped, name)
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
