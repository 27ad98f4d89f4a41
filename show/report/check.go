package report

import (
	"fmt"

	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/show/figures"
	"mars.dev/mars/stages/check"
)

// Checked is what there is to see of how right a model is.
func Checked(r *check.Report) (*Part, error) {
	p := &Part{Title: "Whether the model is still right", Text: []string{r.Unseen}}
	if p.Lead = r.Summary(); len(r.Windows) == 1 {
		w := r.Windows[0]
		p.Lead, p.Text = w.Sentence, append([]string{"The figures rest on this: " + w.Rests + "."}, p.Text...)
	}
	if r.Next != "" {
		p.Text = append(p.Text, "To settle it, label a few rows: "+r.Next)
	}
	for _, w := range r.Windows {
		for _, warning := range w.Warnings {
			p.Warnings = append(p.Warnings, sentence(fmt.Sprintf("window %d: %s", w.Window, warning)))
		}
	}
	if n := len(p.Warnings); n > spelling.MaxNamed {
		p.Warnings = append(p.Warnings[:spelling.MaxNamed], fmt.Sprintf("And %d more: the report's table has them.", n-spelling.MaxNamed))
	}
	for i := range min(len(r.Windows), mostTables) {
		p.Tables = append(p.Tables, figuresOf(r.Windows[len(r.Windows)-1-i]))
	}
	return p, p.figure(figures.Accuracy(r))
}

// mostTables is of how many windows, the last, a page has all figures.
const mostTables = 3

// figuresOf is a table of the figures of a window.
func figuresOf(w *check.Window) Table {
	t := Table{Title: fmt.Sprintf("All figures of window %d (%s to %s)", w.Window, w.Start, w.End),
		Table: figures.Table{Head: []string{"figure", "expected", "lower", "upper", "reference", "change"}}}
	for _, f := range w.Figures {
		row := []string{f.Words()}
		for _, v := range []*float64{f.Value, f.Lower, f.Upper, f.Reference, f.Change} {
			text := "–"
			if v != nil {
				text = fmt.Sprintf("%.4f", *v)
			}
			row = append(row, text)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
