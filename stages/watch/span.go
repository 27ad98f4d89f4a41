package watch

import (
	"io"

	"mars.dev/mars/stages/internal/windows"
)

// A Span is the length of a window: rows, or time. One of them is 0.
type Span = windows.Span

// A LateError is too many late rows in succession.
type LateError = windows.LateError

// What reads the flags and columns of windows, and how these are written.
var (
	ParseSpan     = windows.ParseSpan
	ParseDuration = windows.ParseDuration
	ParseTime     = windows.ParseTime

	Formats  = windows.Formats
	FormatOf = windows.FormatOf

	timeText = windows.TimeText
)

// NewWriter writes windows as they end in one of Formats. begun says that out has windows already.
func (w *Watcher) NewWriter(out io.Writer, name, format string, begun bool) *windows.Writer[*Row] {
	return windows.NewWriter[*Row](w, out, name, format, begun)
}
