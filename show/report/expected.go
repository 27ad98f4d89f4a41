package report

import (
	"fmt"
	"strings"

	"mars.dev/mars/show/figures"
	"mars.dev/mars/stages/label"
)

const (
	mostExpected = 12 // classes whose confusion is drawn
	mostPairs    = 12 // that stand in a table where there are more

	muchSurer = 0.05 // by how much posteriors may promise more right labels than are expected
)

// confusion adds which classes are expected to be taken for which; nothing where that is not known.
func (p *Part) confusion(t *label.Tally) error {
	labels, classes, rows := t.Expected()
	if rows == nil {
		return nil
	}
	note := tooSure(t)
	if len(classes) <= mostExpected {
		f := figures.Expected(labels, classes, rows)
		if note != "" {
			f.Notes = append(f.Notes, note)
		}
		return p.figure(f, nil)
	}
	pairs := Table{Title: "Confusion that is expected", Text: strings.TrimSpace("Labels of which the most rows are expected to be of another class, by the sum of their posteriors. It is as right as the posteriors are. " + note),
		Table: figures.Table{Head: []string{"label", "of class", "rows expected"}}}
	for _, c := range figures.Confused(labels, classes, rows, mostPairs) {
		pairs.Rows = append(pairs.Rows, []string{c.Label, c.Class, fmt.Sprintf("%.0f", c.Rows)})
	}
	if pairs.Rows != nil {
		p.Tables = append(p.Tables, pairs)
	}
	return nil
}

// tooSure says that posteriors promise more than all that is known does; "" if they do not.
func tooSure(t *label.Tally) string {
	expected, promised := t.ExpectedAccuracy(), t.MeanConfidence()
	if expected == nil || promised-*expected < muchSurer {
		return ""
	}
	return fmt.Sprintf("More rows are confused than this shows: by the posteriors %.0f %% of the labels are right, and by all that is known %.0f %%.", 100*promised, 100**expected)
}
