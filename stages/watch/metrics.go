package watch

import (
	"fmt"
	"io"
	"strings"
)

// WriteMetrics writes the last window in the text format of Prometheus (version 0.0.4), as
// the textfile collector of node_exporter reads it.
func (w *Watcher) WriteMetrics(out io.Writer, r *Row) error {
	var b strings.Builder
	gauge := func(name, help string) {
		fmt.Fprintf(&b, "# HELP mars_watch_%s %s\n# TYPE mars_watch_%s gauge\n", name, help, name)
	}
	shares := func(name, help string, values []float64) {
		gauge(name, help)
		for k, class := range w.Classes {
			fmt.Fprintf(&b, "mars_watch_%s{class=\"%s\"} %g\n", name, labelValue(class), values[k])
		}
	}
	one := func(name, help string, value float64) {
		gauge(name, help)
		fmt.Fprintf(&b, "mars_watch_%s %g\n", name, value)
	}
	shares("share", "Share of the class in the last window.", r.Shares)
	shares("share_lower", "Lower bound of the share.", r.Lower)
	shares("share_upper", "Upper bound of the share.", r.Upper)
	one("expected_error", "L1 error to expect of the shares, 0 to 2.", r.ExpectedError)
	one("shift", "L1 distance of the shares from the model's.", r.Shift)
	for _, p := range []struct {
		name, help string
		value      *float64
	}{{"drift_p", "p-value of drift since the reference, for the whole life of the stream.", r.DriftP},
		{"change_p", "p-value of a change since the window before, for the whole life of the stream.", r.ChangeP},
		{"untypical", "Share of rows that are like none of their class.", r.Untypical}} {
		if p.value != nil {
			one(p.name, p.help, *p.value)
		}
	}
	alarm := 0.0
	if r.Verdict.Alarm() {
		alarm = 1
	}
	one("alarm", "1 if the verdict of the last window is drift or change.", alarm)
	one("windows", "Number of the last window.", float64(r.Window))
	one("window_rows", "Rows of the last window.", float64(r.Rows))
	one("window_late_rows", "Late rows since the window before.", float64(r.Late))
	one("window_bad_rows", "Rows that could not be read since the window before.", float64(r.Bad))
	one("window_missing_cells", "Cells without a value since the window before.", float64(r.Missing))
	_, err := io.WriteString(out, b.String())
	return err
}

// labelValue escapes the value of a label.
func labelValue(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text)
}
