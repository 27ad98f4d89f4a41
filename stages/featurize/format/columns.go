package format

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// reserved are the columns that are never features unless named: those of this
// project's own streams that tell the answer or the row.
var reserved = []string{"truth", "domain", "__index_level_0__", ""}

// roles finds the columns of a table that are not features by its names:
// indices of label and id, -1 if there is none. A name that was asked for must
// be there.
func roles(header []string, o Options) (label, id int, err error) {
	asked := o.Label
	if o.NoLabels && !slices.Contains(header, asked) {
		asked = "" // a table to be labelled need not have the column that labels are in elsewhere
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

// chosen finds the feature columns that were asked for.
func chosen(header []string, label, id int, columns []string) ([]int, error) {
	var features []int
	for _, name := range columns {
		i := slices.Index(header, name)
		switch {
		case i < 0:
			return nil, fmt.Errorf("has no column %q (its columns are %s): name feature columns that it has", name, list(header))
		case i == label || i == id:
			return nil, fmt.Errorf("column %q is the label or id column: do not name it as a feature", name)
		case slices.Contains(features, i):
			return nil, fmt.Errorf("column %q is named twice as a feature: name it once", name)
		}
		features = append(features, i)
	}
	return features, nil
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

// settle decides by the first row which columns are features where none were
// named: those whose value is a number or missing. A later value that is
// neither is an error, not a reason to drop the column in silence.
func (p *textPlan) settle(record []string) {
	if !p.open {
		return
	}
	for i, name := range p.header {
		if i == p.label || i == p.id || slices.Contains(reserved, name) {
			continue
		}
		field := strings.TrimSpace(record[i])
		_, err := strconv.ParseFloat(field, 64)
		if err == nil || slices.Contains(missing, strings.ToLower(field)) {
			p.features = append(p.features, i)
		}
	}
}

// names lists the feature columns, and those without any use.
func (p *textPlan) names() (features, skipped []string) {
	for _, i := range p.features {
		features = append(features, p.header[i])
	}
	for i, name := range p.header {
		if i != p.label && i != p.id && !slices.Contains(p.features, i) {
			skipped = append(skipped, name)
		}
	}
	return features, skipped
}

// list writes names for a message, at most a dozen.
func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	const most = 12
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(", … (%d in all)", len(names))
	}
	return strings.Join(names, ", ")
}
