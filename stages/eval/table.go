package eval

import (
	"fmt"
	"io"
	"text/tabwriter"

	"mars.dev/mars/arrowio/safetext"
)

// WriteTable writes m for a person to read.
func (m *Metrics) WriteTable(w io.Writer) error {
	fmt.Fprintf(w, "rows %d   accuracy %.4f   balanced accuracy %.4f\n\n", m.N, m.Accuracy, m.BalancedAccuracy)
	tw := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprint(tw, "class\trows\trecall\t")
	if m.Proportions != nil {
		fmt.Fprint(tw, "source\testimated\ttrue\t")
	}
	fmt.Fprintln(tw)
	for k, class := range m.Classes {
		fmt.Fprintf(tw, "%s\t%d\t%s\t", safetext.Escape(class), sum(m.Confusion[k]), optional(m.Recall[k]))
		if p := m.Proportions; p != nil {
			source := "–"
			if p.Source != nil {
				source = fmt.Sprintf("%.4f", p.Source[k])
			}
			fmt.Fprintf(tw, "%s\t%.4f\t%.4f\t", source, p.Estimated[k], p.True[k])
		}
		fmt.Fprintln(tw)
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	if m.ProportionsL1 != nil {
		fmt.Fprintf(w, "\nL1 error of the estimated proportions: %.4f (0 is perfect, 2 the worst)\n", *m.ProportionsL1)
	}
	if err := m.writeConfusion(w); err != nil {
		return err
	}
	m.writeDiagnostics(w)
	return nil
}

// writeDiagnostics writes what the stages before said, and what they doubted.
func (m *Metrics) writeDiagnostics(w io.Writer) {
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

func (m *Metrics) writeConfusion(w io.Writer) error {
	fmt.Fprintln(w, "\nconfusion matrix (a row is a true class, a column a predicted one)")
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(tw, "\t")
	for _, class := range m.Classes {
		fmt.Fprintf(tw, "%s\t", safetext.Escape(class))
	}
	fmt.Fprintln(tw)
	for k, row := range m.Confusion {
		fmt.Fprintf(tw, "%s\t", safetext.Escape(m.Classes[k]))
		for _, n := range row {
			fmt.Fprintf(tw, "%d\t", n)
		}
		fmt.Fprintln(tw)
	}
	return tw.Flush()
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
