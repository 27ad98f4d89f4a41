package proportions

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/floats"

	"mars.dev/mars/arrowio/safetext"
	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages/internal/diagnostics"
)

// tooWide is how far a bound may be from the other before more labels are advised.
const tooWide = 0.2

// believeLabels makes the verdict one of the labels.
func (r *Report) believeLabels() {
	l, widest := r.Labelled, 0.0
	for k := range r.Classes {
		widest = max(widest, r.Interval.Upper[k]-r.Interval.Lower[k])
	}
	r.Verdict = fmt.Sprintf("Believe these proportions within their intervals: they are by %s of the target.", spelling.Count(l.Rows, "label", "labels"))
	r.Judgement = diagnostics.Believe
	r.Advice = "mars label --labels labels each row by them too"
	if widest > tooWide {
		r.Advice = fmt.Sprintf("label more rows if an interval of %.0f points is too wide (four times as many halve it); %s", math.Round(100*widest), r.Advice)
	}
	r.Grounds, r.Warnings = l.grounds(), l.warnings()
}

// grounds says what the labels say of the answer without them.
func (l *Labelled) grounds() string {
	a := l.Accuracy
	parts := []string{fmt.Sprintf("the estimate without labels is off by %s", diagnostics.OfHundred(floats.Distance(l.Before, l.Sharper.Estimate, 1))),
		fmt.Sprintf("%.0f %% of the labels that are given without these are right (%.0f to %.0f %%)", 100**a.Share, 100*a.Lower, 100*a.Upper)}
	for _, v := range l.Refuted {
		parts = append(parts, fmt.Sprintf("that %s is refuted (p = %.2g)", v.Assumption, v.P))
	}
	return strings.Join(parts, "; ")
}

// warnings are what makes the labels doubtful.
func (l *Labelled) warnings() []string {
	all := []string{}
	if n := len(l.Gaps); n > 0 {
		all = append(all, fmt.Sprintf("%s passed over before the last one with a label: if that has to do with their class, the sharper intervals are wrong; those that hold whatever has shifted count such rows as any class", spelling.Count(n, "row was", "rows were")))
	}
	if l.Missing > 0 {
		all = append(all, diagnostics.MissingRows(l.Missing))
	}
	if len(l.NewClasses) > 0 {
		all = append(all, fmt.Sprintf("the source has no class %s: few labels say which rows are of it", strings.Join(l.NewClasses, ", ")))
	}
	return all
}

// write says what the two intervals need.
func (l *Labelled) write(w *bytes.Buffer) {
	of := "for each class"
	if l.Simultaneous {
		of = "for all classes at once"
	}
	fmt.Fprintf(w, "\nThe intervals hold %s with %g %%:\n", of, 100*l.Level)
	fmt.Fprintf(w, "  sharper     by all %s; it needs the draws alone, and no assumption about the change, and is approximate\n", spelling.Count(l.Sharper.Rows, "labelled row", "labelled rows"))
	fmt.Fprintf(w, "  guaranteed  by the %s alone; it holds whatever has shifted, however wrong the model is\n", spelling.Count(l.Holds.Rows, "uniform row", "uniform rows"))
}

// writeViews says what the labels make of the assumptions.
func (l *Labelled) writeViews(w *bytes.Buffer) {
	if len(l.Views) < 2 {
		return
	}
	fmt.Fprintln(w, "\nThe labels weigh the assumptions anew:")
	for _, v := range l.Views {
		fmt.Fprintf(w, "  %-10s %.2f, before %.2f\n", safetext.Escape(v.Name), v.After, v.Before)
	}
}
