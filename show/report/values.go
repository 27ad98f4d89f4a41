package report

import (
	"fmt"

	"mars.dev/mars/stages/label"
)

// show adds values of the table's rows, nil where a row has none: of the columns that tell most. It adds
// nothing where no values are known.
func (t *Table) show(v *label.Values, rows [][]float32) {
	if v == nil || len(v.Names) == 0 {
		return
	}
	columns := v.Telling()
	for _, j := range columns {
		t.Head = append(t.Head, v.Names[j])
		for i, row := range rows {
			cell := ""
			if row != nil {
				cell = fmt.Sprintf("%.4g", v.Of(row, j))
			}
			t.Rows[i] = append(t.Rows[i], cell)
		}
	}
	if more := len(v.Names); more > len(columns) {
		t.say(fmt.Sprintf("Shown are the %d of %d columns that tell the source's classes apart best, each by itself.", len(columns), more))
	}
	if v.Prepared {
		t.say("Values are as they were transformed or scaled.")
	}
}

// say adds a sentence to what the table says of itself.
func (t *Table) say(sentence string) {
	if t.Text != "" {
		t.Text += " "
	}
	t.Text += sentence
}
