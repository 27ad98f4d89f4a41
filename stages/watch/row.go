package watch

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

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
	fields := []arrow.Field{whole("window"), text("start"), text("end"), {Name: "complete", Type: arrow.FixedWidthTypes.Boolean},
		whole("rows"), whole("used"), whole("late"), whole("bad"), whole("missing")}
	for _, class := range w.Classes {
		fields = append(fields, number("share_"+class), number("lower_"+class), number("upper_"+class))
	}
	return arrow.NewSchema(append(fields, number("expected_error"), number("shift"), optional("change"), optional("untypical"),
		optional("drift_p"), optional("change_p"), arrow.Field{Name: "moved", Type: arrow.BinaryTypes.String, Nullable: true}, text("verdict")), nil)
}

func whole(name string) arrow.Field {
	return arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Int64}
}
func text(name string) arrow.Field { return arrow.Field{Name: name, Type: arrow.BinaryTypes.String} }
func number(name string) arrow.Field {
	return arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Float64}
}
func optional(name string) arrow.Field {
	return arrow.Field{Name: name, Type: arrow.PrimitiveTypes.Float64, Nullable: true}
}

// Record is a batch of one row.
func (w *Watcher) Record(r *Row) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, w.Schema())
	defer b.Release()
	at := 0
	next := func() array.Builder { at++; return b.Field(at - 1) }
	ints := func(values ...int64) {
		for _, v := range values {
			next().(*array.Int64Builder).Append(v)
		}
	}
	floats := func(values ...float64) {
		for _, v := range values {
			next().(*array.Float64Builder).Append(v)
		}
	}
	maybe := func(values ...*float64) {
		for _, v := range values {
			if f := next().(*array.Float64Builder); v == nil {
				f.AppendNull()
			} else {
				f.Append(*v)
			}
		}
	}
	ints(r.Window)
	next().(*array.StringBuilder).Append(r.Start)
	next().(*array.StringBuilder).Append(r.End)
	next().(*array.BooleanBuilder).Append(r.Complete)
	ints(r.Rows, r.Used, r.Late, r.Bad, r.Missing)
	for k := range r.Shares {
		floats(r.Shares[k], r.Lower[k], r.Upper[k])
	}
	floats(r.ExpectedError, r.Shift)
	maybe(r.Change, r.Untypical, r.DriftP, r.ChangeP)
	if moved := next().(*array.StringBuilder); r.Moved == "" {
		moved.AppendNull()
	} else {
		moved.Append(r.Moved)
	}
	next().(*array.StringBuilder).Append(string(r.Verdict))
	return b.NewRecord()
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
