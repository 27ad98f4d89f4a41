package proportions

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"mars.dev/mars/arrowio/safetext"
	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages/algorithms/labelshift"
)

// WriteTable writes the report for a person to read: the proportions, whether to believe
// them and what to do next. With details it goes on with what they rest on.
func (r *Report) WriteTable(w io.Writer, details bool) error {
	var b bytes.Buffer // which takes all, so that only w can fail
	r.table(&b, details)
	_, err := b.WriteTo(w)
	return err
}

func (r *Report) table(w *bytes.Buffer, details bool) {
	r.writeShares(w, details)
	if r.Labelled != nil {
		r.Labelled.write(w)
	}
	fmt.Fprintf(w, "\n%s\n", safetext.Escape(r.Verdict))
	if r.Grounds != "" {
		fmt.Fprintf(w, "Why: %s.\n", safetext.Escape(r.Grounds))
	}
	for _, warning := range r.Warnings {
		if warning != labelshift.Doubt(r.ExpectedError) { // the verdict says it
			fmt.Fprintf(w, "Warning: %s.\n", safetext.Escape(warning))
		}
	}
	if e := r.EveryRow; e != nil {
		fmt.Fprintf(w, "Of all %s, in %s, by %s.\n", spelling.Count(e.Rows, "row", "rows"), spelling.Count(e.Parts, "part", "parts"), spelling.Count(e.Passes, "pass", "passes"))
	}
	if r.L1 != nil {
		fmt.Fprintf(w, "In truth: L1 error %.4f (0 is perfect, 2 the worst).\n", *r.L1)
	}
	more := ""
	if !details && !strings.Contains(r.Advice, "--details") {
		more = " --details shows what the estimate rests on."
	}
	fmt.Fprintf(w, "Next: %s.%s\n", r.Advice, more)
	if r.Next != "" && r.Doubtful() {
		fmt.Fprintf(w, "To settle it, label a few rows (docs/how-to/ask.md):\n  %s\n", safetext.Escape(r.Next))
	}
	if details {
		r.writeDetails(w)
	}
}

// writeShares writes a line a class; without details, one for all but the largest of many.
func (r *Report) writeShares(w *bytes.Buffer, details bool) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	l, interval := r.Labelled, "interval"
	if l != nil {
		interval = "sharper"
	}
	lines := r.Lines(details)
	width := 0 // of the classes, which levels indent
	for _, line := range lines {
		if r.Levels != nil {
			width = max(width, utf8.RuneCountInString(line.indented()))
		}
	}
	fmt.Fprintf(tw, "%-*s\ttarget\t%g %% %s\t", width, "class", 100*r.Interval.Level, interval)
	if l != nil {
		fmt.Fprint(tw, "guaranteed\twithout labels\t")
	}
	fmt.Fprint(tw, "rows\tsource\t")
	if r.Proportions.True != nil {
		fmt.Fprint(tw, "true\t")
	}
	fmt.Fprintln(tw)
	empty := 3 // cells after the share of classes that share a line
	if l != nil {
		empty += 2
	}
	if r.Proportions.True != nil {
		empty++
	}
	largest, smaller := 0.0, ""
	for _, line := range lines {
		if line.Smaller == nil {
			largest = max(largest, line.Of.Estimated[line.At])
		}
	}
	for _, line := range lines {
		of, k := line.Of, line.At
		if line.Smaller != nil {
			smaller = line.indented()
			if r.Levels != nil {
				fmt.Fprintf(tw, "%-*s\t%.1f %%\t%s\n", width, smaller, 100*line.Rest(), strings.Repeat("\t", empty))
				smaller = "The smallest classes share lines"
			}
			continue
		}
		share := of.Estimated[k]
		fmt.Fprintf(tw, "%-*s\t%.1f %%\t%.1f–%.1f %%\t", width, safetext.Escape(line.indented()), 100*share, 100*of.Lower[k], 100*of.Upper[k])
		if l != nil {
			fmt.Fprintf(tw, "%.1f–%.1f %%\t%.1f %%\t", 100*of.HoldsLower[k], 100*of.HoldsUpper[k], 100*of.Before[k])
		}
		fmt.Fprintf(tw, "%.0f\t%.1f %%\t", of.Rows[k], 100*of.Source[k])
		if of.True != nil {
			fmt.Fprintf(tw, "%.1f %%\t", 100*of.True[k])
		}
		fmt.Fprintf(tw, "  %s\n", bar(share/largest))
	}
	tw.Flush()
	if smaller != "" {
		fmt.Fprintf(w, "  %s (--details and --json list all).\n", smaller)
	}
}

// indented is what a line calls its class, or its classes, under that of which they are a part.
func (l Line) indented() string { return strings.Repeat("  ", l.Depth) + l.Name() }

// barWidth is the number of characters of the longest bar.
const barWidth = 24

// bar draws a share of barWidth characters, to an eighth of one.
func bar(share float64) string {
	eighths := int(share*barWidth*8 + 0.5)
	text := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		text += string([]rune(" ▏▎▍▌▋▊▉")[rest])
	}
	return text
}

// writeDetails writes what the estimate rests on.
func (r *Report) writeDetails(w *bytes.Buffer) {
	if r.Labelled != nil {
		r.Labelled.writeViews(w)
		fmt.Fprintln(w, "\nWithout the labels:")
	}
	if r.Diagnostics.Hedge != nil {
		r.writeViews(w)
	} else {
		r.writeOpinions(w)
	}
	r.Diagnostics.write(w)
}

func (r *Report) writeOpinions(w *bytes.Buffer) {
	if len(r.Estimators) == 0 {
		return
	}
	fmt.Fprintln(w, "\nOther estimators:")
	var all []opinion
	for _, name := range r.order() {
		all = append(all, opinion{name + "\t", name, r.Estimators[name]})
	}
	r.writeAll(w, "\t", all)
}

// An opinion is what an estimator or an assumption gives: a line of a table begins with first, and a
// column has the name.
type opinion struct {
	first, name string
	shares      []float64
}

// mostColumns is how many classes are columns of a table.
const mostColumns = 12

// writeAll writes a line an opinion, with a share of each class after what it begins with. Of more classes
// there is a line each, and a column an opinion.
func (r *Report) writeAll(w *bytes.Buffer, head string, all []opinion) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	narrow := len(r.Classes) <= mostColumns
	if narrow {
		for _, class := range r.Classes {
			head += safetext.Escape(class) + "\t"
		}
	}
	fmt.Fprintln(tw, head)
	for _, o := range all {
		line := o.first
		for _, p := range o.shares {
			if narrow {
				line += fmt.Sprintf("%.4f\t", p)
			}
		}
		fmt.Fprintln(tw, line)
	}
	if !narrow {
		r.writeLong(tw, all)
	}
	tw.Flush()
}

// writeLong writes a line a class, with what each opinion gives it.
func (r *Report) writeLong(tw *tabwriter.Writer, all []opinion) {
	fmt.Fprint(tw, "\nclass\t")
	for _, o := range all {
		fmt.Fprint(tw, o.name+"\t")
	}
	for _, k := range r.Listed() {
		fmt.Fprint(tw, "\n"+safetext.Escape(r.Classes[k])+"\t")
		for _, o := range all {
			fmt.Fprintf(tw, "%.4f\t", o.shares[k])
		}
	}
	fmt.Fprintln(tw)
}
