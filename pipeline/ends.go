package pipeline

import (
	"os"
	"os/exec"
)

// ends are the files that a process is started with, and the other ends of those
// that are pipes.
type ends struct {
	theirs, ours []*os.File
	err          error // the first of opening them
}

// open opens a file for the process to read.
func (e *ends) open(path string) *os.File {
	f, err := os.Open(path)
	if e.err == nil {
		e.err = err
	}
	e.theirs = append(e.theirs, f)
	return f
}

// toProcess makes a pipe that the process reads.
func (e *ends) toProcess() (theirs, ours *os.File) {
	r, w := e.pipe()
	e.theirs, e.ours = append(e.theirs, r), append(e.ours, w)
	return r, w
}

// fromProcess makes a pipe that the process writes.
func (e *ends) fromProcess() (ours, theirs *os.File) {
	r, w := e.pipe()
	e.theirs, e.ours = append(e.theirs, w), append(e.ours, r)
	return r, w
}

func (e *ends) pipe() (r, w *os.File) {
	if e.err == nil {
		r, w, e.err = os.Pipe()
	}
	return r, w
}

// start starts the process, unless something could not be opened. The process
// has its own copies of its ends; ours stay open only if it runs.
func (e *ends) start(cmd *exec.Cmd) error {
	if e.err == nil {
		e.err = cmd.Start()
	}
	closeFiles(e.theirs)
	if e.err != nil {
		closeFiles(e.ours)
	}
	return e.err
}

// closeFiles closes files, of which those that could not be opened are nil.
func closeFiles(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}
