package diagnostics

import (
	"fmt"
	"io"
	"text/tabwriter"

	"mars.dev/mars/arrowio/safetext"
	"mars.dev/mars/internal/spelling"
)

// Experience says what came of labelled batches that were left out; "" where none were.
func (h *Hedge) Experience() string {
	if len(h.Left) == 0 {
		return ""
	}
	var l1, right float64
	least, most := h.Left[0].L1, h.Left[0].L1
	for _, l := range h.Left {
		l1, right = l1+l.L1/float64(len(h.Left)), right+l.Accuracy/float64(len(h.Left))
		least, most = min(least, l.L1), max(most, l.L1)
	}
	return fmt.Sprintf("%s were answered from the others, as if they had no labels: the shares were off by %.2f in L1 (%.2f to %.2f), and %.0f %% of the labels were right. What is expected here goes by that too",
		spelling.Count(len(h.Left), "labelled batch", "labelled batches"), l1, least, most, 100*right)
}

// WriteBatches writes a line a batch that was left out, with what was expected of it beside what is true.
func (h *Hedge) WriteBatches(w io.Writer) error {
	if len(h.Left) == 0 {
		return nil
	}
	fmt.Fprintln(w, "\nLabelled batches, each answered from the others as if it had no labels. \"expected\" is what was said beforehand,\n\"nearest\" the assumption that came nearest to the truth:")
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "batch\trows\tL1 error\texpected\tlabels right\texpected\tnearest\t")
	for _, l := range h.Left {
		fmt.Fprintf(tw, "%s\t%d\t%.2f\t%.2f\t%.0f %%\t%.0f %%\t%s\t\n", safetext.Escape(l.Batch), l.Rows, l.L1, l.ExpectedError, 100*l.Accuracy, 100*l.ExpectedAccuracy, safetext.Escape(l.Best))
	}
	return tw.Flush()
}
