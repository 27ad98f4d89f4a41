package report

import (
	"fmt"

	"mars.dev/mars/show/figures"
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

// mostTypical is of how many classes a page has a typical row.
const mostTypical = 12

// typical adds a typical row of each class; nothing where none are known.
func (p *Part) typical(t *label.Tally) error {
	all := t.Typical()
	if all == nil {
		return nil
	}
	table := Table{Title: "Typical rows", Text: "Of each label the row that is surest.", Table: figures.Table{Head: []string{"label", "id", "confidence"}}}
	if t.Judged() {
		table.Text = "Of each label the row that is surest and most usual of its class: of the highest product of confidence and typicality."
		table.Head = append(table.Head, "typicality")
	}
	if len(all) > mostTypical {
		table.say(fmt.Sprintf("Shown are the %d labels of the most rows of %d.", mostTypical, len(all)))
		all = all[:mostTypical]
	}
	var rows [][]float32
	for _, r := range all {
		cells := []string{r.Label, r.ID, fmt.Sprintf("%.1f %%", 100*r.Confidence)}
		if t.Judged() {
			cells = append(cells, fmt.Sprintf("%.2f", r.Typicality))
		}
		table.Rows, rows = append(table.Rows, cells), append(rows, r.Values)
	}
	table.show(t.Values(), rows)
	p.Tables = append(p.Tables, table)
	return nil
}

// unlike adds to which classes rows that are like none of the source are nearest, and what makes them new.
func (p *Part) unlike(all []label.Unlike) error {
	if len(all) == 0 {
		return nil
	}
	table := Table{Title: "Rows like none of the source", Text: "By the class that they are nearest to, and the columns in which they differ most from the target's other rows of it, in standard deviations of these. " +
		"If they are a class of their own, it lies there.", Table: figures.Table{Head: []string{"nearest class", "rows", "by chance", "differ in"}}}
	if len(all) > mostTypical {
		table.say(fmt.Sprintf("Shown are the %d classes of the most rows of %d.", mostTypical, len(all)))
		all = all[:mostTypical]
	}
	for _, u := range all {
		table.Rows = append(table.Rows, []string{u.Class, fmt.Sprint(u.Rows), fmt.Sprintf("%.0f", u.Chance), u.Differ(len(u.Columns))})
	}
	p.Tables = append(p.Tables, table)
	return nil
}

// moved adds in which columns source and target differ most; nothing where their values are not known.
func (p *Part) moved(v *label.Values) error {
	if v == nil {
		return nil
	}
	source, target := v.Sampled()
	if source == 0 || target == 0 {
		return nil
	}
	if columns := v.Moved(); columns != nil {
		return p.figure(figures.Moved(columns, source, target), nil)
	}
	p.Basis = append(p.Basis, fmt.Sprintf("No column by itself differs between source and target by more than chance explains, in samples of %d and %d rows.", source, target))
	return nil
}

// say adds a sentence to what the table says of itself.
func (t *Table) say(sentence string) {
	if t.Text != "" {
		t.Text += " "
	}
	t.Text += sentence
}
