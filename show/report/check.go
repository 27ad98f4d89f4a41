package report

import (
	"fmt"

	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/show/figures"
	"mars.dev/mars/stages/check"
)

// Checked is what there is to see of how right a model is. The verdict is that of the last window.
func Checked(r *check.Report) (*Part, error) {
	figure, err := figures.Accuracy(r)
	if err != nil {
		return nil, err
	}
	last := r.Windows[len(r.Windows)-1]
	p := &Part{Title: "Whether the model is still right", Judged: string(last.Verdict), Lead: last.Sentence, Answer: r.Summary(), Text: []string{r.Unseen}, Command: r.Next}
	if len(r.Windows) > 1 {
		p.Lead = fmt.Sprintf("The last window, %s to %s: %s", last.Start, last.End, last.Sentence)
	}
	if a := last.Accuracy(); a.Value != nil {
		p.Answer = fmt.Sprintf("The accuracy is expected to be %.3f (%.3f–%.3f). %s", *a.Value, *a.Lower, *a.Upper, p.Answer)
	}
	if last.Rests != "" {
		p.Basis = append(p.Basis, sentence(last.Rests))
	}
	if r.Next != "" {
		p.Next = "To settle it, label a few rows."
	}
	for _, warning := range last.Warnings {
		p.Warnings = append(p.Warnings, sentence(warning))
	}
	before := 0
	for _, w := range r.Windows[:len(r.Windows)-1] {
		before += len(w.Warnings)
	}
	if before > 0 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("%s of earlier windows: the report (-o) has them.", spelling.Count(before, "warning", "warnings")))
	}
	for i := range min(len(r.Windows), mostTables) {
		p.Tables = append(p.Tables, figuresOf(r.Windows[len(r.Windows)-1-i]))
	}
	return p, p.figure(figure, nil)
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
