package eval

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"mars.dev/mars/arrowio/safetext"
)

// WriteTable writes m for a person to read.
func (m *Metrics) WriteTable(w io.Writer) error {
	var b bytes.Buffer // which takes all, so that only w can fail
	m.table(&b)
	_, err := b.WriteTo(w)
	return err
}

func (m *Metrics) table(w *bytes.Buffer) {
	fmt.Fprintf(w, "rows %d   accuracy %.4f   balanced accuracy %.4f\n\n", m.N, m.Accuracy, m.BalancedAccuracy)
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprint(tw, "class\trows\trecall\t")
	if m.Proportions != nil {
		fmt.Fprint(tw, "source\testimated\ttrue\t")
	}
	fmt.Fprintln(tw)
	for k, class := range m.Classes {
		fmt.Fprintf(tw, "%s\t%d\t%s\t", displayName(class), sum(m.Confusion[k]), optional(m.Recall[k]))
		if p := m.Proportions; p != nil {
			source := "–"
			if p.Source != nil {
				source = fmt.Sprintf("%.4f", p.Source[k])
			}
			fmt.Fprintf(tw, "%s\t%.4f\t%.4f\t", source, p.Estimated[k], p.True[k])
		}
		fmt.Fprintln(tw)
	}
	tw.Flush()
	if m.ProportionsL1 != nil {
		fmt.Fprintf(w, "\nL1 error of the estimated proportions: %.4f (0 is perfect, 2 the worst)\n", *m.ProportionsL1)
	}
	m.writeConfusion(w)
	m.writeDiagnostics(w)
	m.writeSelection(w)
	if m.Scores != nil {
		fmt.Fprintln(w)
		m.Scores.table(w)
	}
}

// writeDiagnostics writes what the stages before said, and what they doubted.
func (m *Metrics) writeDiagnostics(w *bytes.Buffer) {
	if m.Diagnostics == nil {
		return
	}
	fmt.Fprintln(w, "\ndiagnostics of the stages before (docs/measured/diagnostics.md)")
	for _, part := range m.Diagnostics.Parts() {
		fmt.Fprintln(w, safetext.Escape(part.Line()))
	}
	for _, warning := range m.Diagnostics.AllWarnings() {
		fmt.Fprintf(w, "warning: %s\n", safetext.Escape(warning))
	}
}

// writeSelection writes which settings were chosen.
func (m *Metrics) writeSelection(w *bytes.Buffer) {
	if m.Selection == nil {
		return
	}
	fmt.Fprintf(w, "\nchosen by %s among %d: %s\n", safetext.Escape(m.Selection.Score), len(m.Selection.Candidates), safetext.Escape(m.Selection.Choice()))
}

// mostSquare is the number of classes up to which the whole confusion matrix is shown;
// of more, only the most frequent confusions are.
const mostSquare = 30

// displayName is a class's name as a table for people has room for it.
func displayName(class string) string {
	const most = 40
	if r := []rune(class); len(r) > most {
		class = string(r[:most-1]) + "…"
	}
	return safetext.Escape(class)
}

// writeLargest writes the most frequent confusions of many classes.
func (m *Metrics) writeLargest(w *bytes.Buffer) {
	type confusion struct{ truth, predicted, n int }
	var all []confusion
	for k, row := range m.Confusion {
		for j, n := range row {
			if j != k && n > 0 {
				all = append(all, confusion{k, j, n})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b confusion) int { return b.n - a.n })
	shown := all[:min(len(all), mostSquare)]
	fmt.Fprintf(w, "\nlargest confusions, %d of %d (--json has the whole matrix of %d classes)\n", len(shown), len(all), len(m.Classes))
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "true\tpredicted\trows")
	for _, c := range shown {
		fmt.Fprintf(tw, "%s\t%s\t%d\n", displayName(m.Classes[c.truth]), displayName(m.Classes[c.predicted]), c.n)
	}
	tw.Flush()
}

func (m *Metrics) writeConfusion(w *bytes.Buffer) {
	if len(m.Classes) > mostSquare {
		m.writeLargest(w)
		return
	}
	fmt.Fprintln(w, "\nconfusion matrix (a row is a true class, a column a predicted one)")
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(tw, "\t")
	for _, class := range m.Classes {
		fmt.Fprintf(tw, "%s\t", displayName(class))
	}
	fmt.Fprintln(tw)
	for k, row := range m.Confusion {
		fmt.Fprintf(tw, "%s\t", displayName(m.Classes[k]))
		for _, n := range row {
			fmt.Fprintf(tw, "%d\t", n)
		}
		fmt.Fprintln(tw)
	}
	tw.Flush()
}

func optional(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.4f", *v)
}

func sum(values []int) int {
	total := 0
	for _, v := range values {
		total += v
	}
	return total
}
