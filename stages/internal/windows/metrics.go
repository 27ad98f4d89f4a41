package windows

import (
	"fmt"
	"io"
	"strings"
)

// Metrics are gauges in the text format of Prometheus (version 0.0.4), as the textfile collector of
// node_exporter reads them.
type Metrics struct {
	Prefix  string // of their names, as in mars_watch_
	Classes []string

	text strings.Builder
}

func (m *Metrics) gauge(name, help string) {
	fmt.Fprintf(&m.text, "# HELP %s%s %s\n# TYPE %[1]s%[2]s gauge\n", m.Prefix, name, help)
}

// Each adds a gauge with a value a class; values that are none are left out.
func (m *Metrics) Each(name, help string, values []float64) {
	m.gauge(name, help)
	for k, class := range m.Classes {
		if v := values[k]; v == v {
			fmt.Fprintf(&m.text, "%s%s{class=\"%s\"} %g\n", m.Prefix, name, labelValue(class), v)
		}
	}
}

// One adds a gauge.
func (m *Metrics) One(name, help string, value float64) {
	m.gauge(name, help)
	fmt.Fprintf(&m.text, "%s%s %g\n", m.Prefix, name, value)
}

// Write writes them.
func (m *Metrics) Write(out io.Writer) error {
	_, err := io.WriteString(out, m.text.String())
	return err
}

// labelValue escapes the value of a label.
func labelValue(text string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(text)
}
