package watch

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/arrowio/safetext"
	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages/internal/diagnostics"
)

// A Row is what is said of a window.
type Row struct {
	Window     int64  // number, from 1
	Start, End string // times, the end not in the window; or numbers of rows from 1, the last in it
	Complete   bool   // false: the stream ended first
	Rows, Used int64  // in the window, and those of them that the shares are estimated from
	Empty      int64  // of Rows: they have no value at all, and may be of any class
	// Late rows, Bad rows and Missing cells since the window before. Late and bad rows are in
	// no window.
	Late, Bad, Missing int64

	Shares, Lower, Upper []float64 // of each class
	ExpectedError        float64   // L1 error to expect of Shares, 0 to 2
	Shift                float64   // L1 distance from the shares of the model
	Change               *float64  // L1 distance from the window before; nil of the first
	Untypical            *float64  // share of rows that are like none of their class; nil: the model cannot tell

	Reference bool     // drift is measured from these rows
	DriftP    *float64 // p-value of drift since the reference, for the whole life
	ChangeP   *float64 // p-value of drift since the window (or step) before, for the whole life
	Moved     string   // what has drifted most; "" where nothing has
	Verdict   Verdict

	changed, drifted bool
}

// A Verdict is what to make of a window.
type Verdict string

// Verdicts, the gravest first.
const (
	Drift  Verdict = "drift"                    // the rows are not as the reference's, or were not before
	Change Verdict = "change"                   // the rows are not as those before
	Doubt  Verdict = Verdict(diagnostics.Doubt) // the shares are expected to be off by more than 0.2
	Care   Verdict = Verdict(diagnostics.Care)  // by more than 0.1, or rows have no value
	Good   Verdict = "ok"
)

// Alarm reports whether a verdict is that rows have drifted.
func (v Verdict) Alarm() bool { return v == Drift || v == Change }

func (w *Watcher) judge(row *Row) {
	switch {
	case row.drifted || w.State.Drifted:
		row.Verdict = Drift
	case row.changed:
		row.Verdict = Change
	default:
		row.Verdict = Good
		signs := diagnostics.Signs{ExpectedError: row.ExpectedError, Accuracy: 1, Against: true, Warned: row.Empty > 0}
		if said := diagnostics.Judge(signs); said != diagnostics.Believe {
			row.Verdict = Verdict(said)
		}
	}
}

// Sentence says what has happened, for an alarm.
func (r *Row) Sentence() string {
	if r.Verdict == Change {
		return fmt.Sprintf("window %d (%s to %s): the rows have changed since the window before, most in %s (p %.2g)", r.Window, r.Start, r.End, r.Moved, *r.ChangeP)
	}
	if r.Moved == "" || r.DriftP == nil {
		return fmt.Sprintf("window %d (%s to %s): the rows have drifted before", r.Window, r.Start, r.End)
	}
	return fmt.Sprintf("window %d (%s to %s): the rows have drifted since the reference, most in %s (p %.2g)", r.Window, r.Start, r.End, r.Moved, *r.DriftP)
}

// Schema is that of Record.
func (w *Watcher) Schema() *arrow.Schema {
	none := make([]float64, len(w.Classes))
	return w.Record(&Row{Shares: none, Lower: none, Upper: none}).Schema()
}

// Record is a batch of one row.
func (w *Watcher) Record(r *Row) arrow.Record {
	var t arrowio.Table
	whole := func(name string, v int64) { t.Add(name, arrowio.NewInt64Array([]int64{v})) }
	text := func(name, v string) { t.Add(name, arrowio.NewStringArray([]string{v})) }
	number := func(name string, v float64) { t.Add(name, arrowio.NewDoubleArray([]float64{v})) }
	optional := func(name string, v *float64) { t.AddNullable(name, arrowio.NewDoublesOrNull([]*float64{v})) }
	whole("window", r.Window)
	text("start", r.Start)
	text("end", r.End)
	t.Add("complete", arrowio.NewBoolArray([]bool{r.Complete}))
	whole("rows", r.Rows)
	whole("used", r.Used)
	whole("late", r.Late)
	whole("bad", r.Bad)
	whole("missing", r.Missing)
	for k, class := range w.Classes {
		number("share_"+class, r.Shares[k])
		number("lower_"+class, r.Lower[k])
		number("upper_"+class, r.Upper[k])
	}
	number("expected_error", r.ExpectedError)
	number("shift", r.Shift)
	optional("change", r.Change)
	optional("untypical", r.Untypical)
	optional("drift_p", r.DriftP)
	optional("change_p", r.ChangeP)
	t.AddNullable("moved", arrowio.NewStringsOrNull([]string{r.Moved}))
	text("verdict", string(r.Verdict))
	return t.Record(arrowio.Meta{})
}

// headEvery is after how many lines of a table its head comes again.
const headEvery = 40

// maxShown is how many classes a line of a table shows: those of most rows.
const maxShown = 6

// WriteLine writes a window for a person to read.
func (w *Watcher) WriteLine(out io.Writer, r *Row) error {
	var b strings.Builder
	if r.Window%headEvery == 1 {
		fmt.Fprintf(&b, "%-24s %9s  %-7s %-5s %-7s %s\n", "window ends", "rows", "verdict", "error", "drift p", fmt.Sprintf("shares, each from – to of its %g %% interval", 100*w.options.Level))
	}
	p := "–"
	if r.Reference {
		p = "first"
	} else if r.DriftP != nil {
		p = strconv.FormatFloat(*r.DriftP, 'g', 2, 64)
	}
	fmt.Fprintf(&b, "%-24s %9d  %-7s %-5.2f %-7s ", r.End, r.Rows, r.Verdict, r.ExpectedError, p)
	for k, class := range w.Classes {
		if k == maxShown {
			b.WriteString(" … " + spelling.Count(len(w.Classes)-k, "class", "classes") + " more")
			break
		}
		if k > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %.3f (%.3f–%.3f)", safetext.Escape(class), r.Shares[k], r.Lower[k], r.Upper[k])
	}
	var notes []string
	for _, n := range []struct {
		count int64
		what  [2]string
	}{{r.Late, [2]string{"late row", "late rows"}}, {r.Bad, [2]string{"bad row", "bad rows"}}, {r.Empty, [2]string{"row without any value", "rows without any value"}}, {r.Missing, [2]string{"missing cell", "missing cells"}}} {
		if n.count > 0 {
			notes = append(notes, spelling.Count(n.count, n.what[0], n.what[1]))
		}
	}
	if r.Moved != "" {
		notes = append(notes, "moved: "+safetext.Escape(r.Moved))
	}
	if !r.Complete {
		notes = append(notes, "not complete")
	}
	if notes != nil {
		b.WriteString("; " + strings.Join(notes, ", "))
	}
	b.WriteString("\n")
	_, err := io.WriteString(out, b.String())
	return err
}
