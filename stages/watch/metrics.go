package watch

import (
	"io"

	"mars.dev/mars/stages/internal/windows"
)

// WriteMetrics writes the last window in the text format of Prometheus (version 0.0.4), as
// the textfile collector of node_exporter reads it.
func (w *Watcher) WriteMetrics(out io.Writer, r *Row) error {
	m := windows.Metrics{Prefix: "mars_watch_", Classes: w.Classes}
	m.Each("share", "Share of the class in the last window.", r.Shares)
	m.Each("share_lower", "Lower bound of the share.", r.Lower)
	m.Each("share_upper", "Upper bound of the share.", r.Upper)
	m.One("expected_error", "L1 error to expect of the shares, 0 to 2.", r.ExpectedError)
	m.One("shift", "L1 distance of the shares from the model's.", r.Shift)
	for _, p := range []struct {
		name, help string
		value      *float64
	}{{"drift_p", "p-value of drift since the reference, for the whole life of the stream.", r.DriftP},
		{"change_p", "p-value of a change since the window before, for the whole life of the stream.", r.ChangeP},
		{"untypical", "Share of rows that are like none of their class.", r.Untypical}} {
		if p.value != nil {
			m.One(p.name, p.help, *p.value)
		}
	}
	alarm := 0.0
	if r.Verdict.Alarm() {
		alarm = 1
	}
	m.One("alarm", "1 if the verdict of the last window is drift or change.", alarm)
	m.One("windows", "Number of the last window.", float64(r.Window))
	m.One("window_rows", "Rows of the last window.", float64(r.Rows))
	m.One("window_late_rows", "Late rows since the window before.", float64(r.Late))
	m.One("window_bad_rows", "Rows that could not be read since the window before.", float64(r.Bad))
	m.One("window_missing_cells", "Cells without a value since the window before.", float64(r.Missing))
	return m.Write(out)
}
