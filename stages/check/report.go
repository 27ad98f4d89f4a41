package check

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/arrowio/safetext"
	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/windows"
	"mars.dev/mars/tables/write"
)

// A Report is what was found.
type Report struct {
	Classes []string  `json:"classes"`
	Level   float64   `json:"level"` // of the intervals
	Rows    int64     `json:"reference_rows"`
	Shares  []float64 `json:"reference_shares"` // of the classes
	// Reference are the figures of the reference itself.
	Reference []Figure `json:"reference"`
	// Unseen is what no rows without labels show.
	Unseen  string    `json:"unseen"`
	Windows []*Window `json:"windows"`
	// Next is the command that draws rows to label, and Unused says that --columns may tell more; who asked fills them in.
	Next   string `json:"-"`
	Unused bool   `json:"-"`

	alert float64
	live  bool // windows are of a stream
}

// Unseen is what nobody can see without labels.
const Unseen = "If labels now follow another rule than in the reference, or rows are of a class that it lacks, predictions without labels do not show it: only labels of some rows do (mars ask)."

func newReport(c *checker, rows int64) *Report {
	r := c.reference
	return &Report{Classes: c.classes.names, Level: c.options.Level, Rows: rows, Shares: r.Proportions, Unseen: Unseen,
		Reference: figures(names(c.classes.names), r.Figures, r.Interval, nil), Windows: []*Window{}, alert: c.options.Alert, live: c.live}
}

// Alarms are the windows whose accuracy is below what was asked for.
func (r *Report) Alarms() (all []*Window) {
	for _, w := range r.Windows {
		if w.Alarm {
			all = append(all, w)
		}
	}
	return all
}

// Alarm says what has happened in a window.
func (r *Report) Alarm(w *Window) string {
	a := w.Accuracy()
	return fmt.Sprintf("%s: the accuracy is below %g: %.3f is expected, and %.3f at most with %g %%", w.name(), r.alert, *a.Value, *a.Upper, 50*(1+r.Level))
}

// name is what a sentence calls a window.
func (w *Window) name() string { return fmt.Sprintf("window %d (%s to %s)", w.Window, w.Start, w.End) }

// Doubtful reports whether labels of some rows would settle what a window leaves open.
func (r *Report) Doubtful() bool {
	for _, w := range r.Windows {
		if w.Verdict != diagnostics.Believe && w.Labelled == nil {
			return true
		}
	}
	return false
}

// WriteJSON writes the report as one object.
func (r *Report) WriteJSON(w io.Writer) error { return write.Object(w, r) }

// Save writes the report to a file: as JSON whole, and in the other formats the rows of Record. It
// does not write Arrow.
func (r *Report) Save(ctx context.Context, path string, f write.Format) error {
	return write.SaveReport(ctx, path, f, r.WriteJSON, func() (arrow.Record, error) { return r.Record(), nil })
}

// Write writes the rows of Record.
func (r *Report) Write(out arrowio.Sink) error {
	rec := r.Record()
	defer rec.Release()
	return arrowio.WriteRecord(out, rec)
}

// Record has a row a window.
func (r *Report) Record() arrow.Record {
	var t arrowio.Table
	whole := func(name string, of func(*Window) int64) {
		t.AddNullable(name, arrowio.NewInt64Array(column(r, of)))
	}
	double := func(name string, of func(*Window) *float64) {
		t.AddNullable(name, arrowio.NewDoublesOrNull(column(r, of)))
	}
	text := func(name string, of func(*Window) string) {
		t.AddNullable(name, arrowio.NewStringArray(column(r, of)))
	}
	truth := func(name string, of func(*Window) bool) {
		t.AddNullable(name, arrowio.NewBoolArray(column(r, of)))
	}
	whole("window", func(w *Window) int64 { return int64(w.Window) })
	text("start", func(w *Window) string { return w.Start })
	text("end", func(w *Window) string { return w.End })
	truth("complete", func(w *Window) bool { return w.Complete })
	whole("rows", func(w *Window) int64 { return w.Counts.All })
	whole("used", func(w *Window) int64 { return w.Counts.Used })
	whole("empty", func(w *Window) int64 { return w.Counts.Empty })
	whole("unknown", func(w *Window) int64 { return w.Counts.Unknown })
	if r.live {
		whole("late", func(w *Window) int64 { return w.Counts.Late })
		whole("bad", func(w *Window) int64 { return w.Counts.Bad })
	}
	for j, f := range r.Reference {
		double(f.Name, func(w *Window) *float64 { return w.Figures[j].Value })
		double(f.Name+"_lower", func(w *Window) *float64 { return w.Figures[j].Lower })
		double(f.Name+"_upper", func(w *Window) *float64 { return w.Figures[j].Upper })
		double(f.Name+"_change", func(w *Window) *float64 { return w.Figures[j].Change })
	}
	for k, class := range r.Classes {
		double("share_"+class, func(w *Window) *float64 {
			if w.Shares == nil {
				return nil
			}
			return &w.Shares[k]
		})
	}
	double("expected_error", func(w *Window) *float64 { return w.Error })
	double("moved", func(w *Window) *float64 { return &w.Moved })
	double("unexplained", func(w *Window) *float64 { return &w.Unexplained })
	text("rests_on", func(w *Window) string { return w.Rests })
	text("verdict", func(w *Window) string { return string(w.Verdict) })
	truth("alarm", func(w *Window) bool { return w.Alarm })
	text("warnings", func(w *Window) string { return strings.Join(w.Warnings, "; ") })
	return t.Record(arrowio.Meta{})
}

// column is what the windows have of one kind.
func column[T any](r *Report, of func(*Window) T) []T {
	values := make([]T, len(r.Windows))
	for i, w := range r.Windows {
		values[i] = of(w)
	}
	return values
}

// WriteMetrics writes a window in the text format of Prometheus.
func (r *Report) WriteMetrics(out io.Writer, w *Window) error {
	m := windows.Metrics{Prefix: "mars_check_", Classes: r.Classes}
	one := func(name, help string, v *float64) {
		if v != nil {
			m.One(name, help, *v)
		}
	}
	helps := []string{"Accuracy to be expected in the last window", "Balanced accuracy to be expected", "Logarithmic loss to be expected", "Area under the ROC curve to be expected"}
	for j, help := range helps {
		f := w.Figures[j]
		one(f.Name, help+".", f.Value)
		one(f.Name+"_lower", help+": lower bound.", f.Lower)
		one(f.Name+"_upper", help+": upper bound.", f.Upper)
		one(f.Name+"_change", help+": change since the reference.", f.Change)
	}
	one("expected_error", "How far off the accuracy is expected to be, 0 to 1.", w.Error)
	if w.Shares != nil {
		m.Each("share", "Share of the class in the last window.", w.Shares)
	}
	alarm, believed := 0.0, 0.0
	if w.Alarm {
		alarm = 1
	}
	if w.Believed() {
		believed = 1
	}
	m.One("alarm", "1 if the accuracy of the last window is below --alert.", alarm)
	m.One("believed", "1 if the figures of the last window can be believed, with care at least.", believed)
	m.One("windows", "Number of the last window.", float64(w.Window))
	m.One("window_rows", "Rows of the last window.", float64(w.Counts.All))
	m.One("window_empty_rows", "Rows of the last window without a prediction.", float64(w.Counts.Empty))
	return m.Write(out)
}

// verdicts are how a table says them.
var verdicts = map[diagnostics.Verdict]string{diagnostics.Believe: "believed", diagnostics.Care: "with care", diagnostics.Unjudged: "not judged", diagnostics.Doubt: "not believed"}

// headEvery is after how many windows a table has its head again.
const headEvery = 40

// WriteLine writes a window of several for a person to read.
func (r *Report) WriteLine(out io.Writer, w *Window) error {
	var b strings.Builder
	if w.Window%headEvery == 1 {
		fmt.Fprintf(&b, "%-21s %9s  %-12s  %s\n", "window ends", "rows", "verdict", fmt.Sprintf("accuracy, its %g %% interval, the change; balanced accuracy", 100*r.Level))
	}
	fmt.Fprintf(&b, "%-21s %9d  %-12s  ", w.End, w.Counts.All, verdicts[w.Verdict])
	a, balanced := w.Accuracy(), w.Figures[1]
	fmt.Fprintf(&b, "%s  %s  %s; %s", shown(a.Value), a.interval(), a.change(), shown(balanced.Value))
	if !w.Complete {
		b.WriteString("; not complete")
	}
	if n := w.Counts.Late; n > 0 {
		b.WriteString("; " + spelling.Count(n, "late row", "late rows"))
	}
	if n := w.Counts.Bad; n > 0 {
		b.WriteString("; " + spelling.Count(n, "bad row", "bad rows"))
	}
	for _, warning := range w.Warnings {
		b.WriteString("; " + safetext.Escape(warning))
	}
	b.WriteString("\n")
	_, err := io.WriteString(out, b.String())
	return err
}

func shown(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.3f", *v)
}

func (f Figure) interval() string {
	if f.Lower == nil {
		return "–"
	}
	return fmt.Sprintf("%.3f–%.3f", *f.Lower, *f.Upper)
}

func (f Figure) change() string {
	if f.Change == nil {
		return "–"
	}
	return fmt.Sprintf("%+.3f", *f.Change)
}

// WriteTable writes the only window for a person to read, or of several what lines of them lack.
func (r *Report) WriteTable(out io.Writer) error {
	var b strings.Builder
	if len(r.Windows) == 1 {
		r.writeFigures(&b, r.Windows[0])
	} else {
		fmt.Fprintf(&b, "\n%s\n", r.Summary())
	}
	if w := r.Windows[0]; w.Labelled == nil {
		fmt.Fprintf(&b, "%s\n", r.Unseen)
	}
	if r.Unused {
		b.WriteString("The tables have columns besides. With --columns '*' they are looked at too, which shows classes that have moved (docs/how-to/check.md).\n")
	}
	if r.Next != "" {
		fmt.Fprintf(&b, "To settle it, label a few rows (docs/how-to/ask.md):\n  %s\n", safetext.Escape(r.Next))
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// writeFigures writes the figures of a window.
func (r *Report) writeFigures(b *strings.Builder, w *Window) {
	tw := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tw, "figure\texpected\t%g %% interval\treference\tchange\t\n", 100*r.Level)
	for j, f := range w.Figures {
		if f.Value == nil && f.Reference == nil {
			continue
		}
		if j >= 4+spelling.MaxListed {
			break
		}
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t\n", safetext.Escape(f.Words()), shown(f.Value), f.interval(), shown(f.Reference), f.change())
	}
	tw.Flush() //nolint:errcheck // a Builder takes all
	if w.Labelled != nil {
		w.Labelled.write(b, r.Level)
	}
	fmt.Fprintf(b, "\n%s\n", w.Sentence)
	for _, warning := range w.Warnings {
		fmt.Fprintf(b, "Warning: %s.\n", safetext.Escape(warning))
	}
	if w.Rests != "" {
		fmt.Fprintf(b, "The figures rest on this: %s.\n", w.Rests)
	}
}

// Words are the name of a figure as a person reads it.
func (f Figure) Words() string {
	switch {
	case f.Name == "auc":
		return "AUC"
	case strings.HasPrefix(f.Name, "f1_"):
		return "F1 of " + f.Name[len("f1_"):]
	case strings.HasPrefix(f.Name, "true_"):
		return strings.Replace(strings.Replace(f.Name, "true_", "true ", 1), "_predicted_", ", predicted ", 1)
	}
	return strings.ReplaceAll(f.Name, "_", " ")
}

// Summary says how many windows are to be believed.
func (r *Report) Summary() string {
	counts := map[diagnostics.Verdict]int{}
	for _, w := range r.Windows {
		counts[w.Verdict]++
	}
	var parts []string
	for _, v := range []diagnostics.Verdict{diagnostics.Believe, diagnostics.Care, diagnostics.Unjudged, diagnostics.Doubt} {
		if n := counts[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, verdicts[v]))
		}
	}
	return fmt.Sprintf("%s: %s. In the reference the accuracy is %s.", spelling.Count(len(r.Windows), "window", "windows"), strings.Join(parts, ", "), shown(r.Reference[0].Value))
}
