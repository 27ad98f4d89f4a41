package arrowio

import (
	"os"
	"sync/atomic"
)

var stdinRead, stdoutWritten atomic.Bool

// StandardInput is standard input for whoever reads it.
func StandardInput() *os.File {
	stdinRead.Store(true)
	return os.Stdin
}

// StandardInputIsRead reports whether anybody has asked for standard input: a file there
// that nobody reads may be of whoever started the program, as in a loop over its lines.
func StandardInputIsRead() bool { return stdinRead.Load() }

// StandardOutput is standard output for whoever writes to it.
func StandardOutput() *os.File {
	stdoutWritten.Store(true)
	return os.Stdout
}

// StandardOutputIsWritten reports whether anybody has asked for standard output.
func StandardOutputIsWritten() bool { return stdoutWritten.Load() }
