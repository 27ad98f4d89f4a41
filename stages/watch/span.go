package watch

import "mars.dev/mars/stages/internal/windows"

// A Span is the length of a window: rows, or time. One of them is 0.
type Span = windows.Span

// What reads the flags and columns of windows.
var (
	ParseSpan     = windows.ParseSpan
	ParseDuration = windows.ParseDuration
	ParseTime     = windows.ParseTime

	timeText = windows.TimeText
)
