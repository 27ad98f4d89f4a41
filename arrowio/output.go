package arrowio

import (
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"

	"golang.org/x/term"
)

// output is where the bytes go, and how they become visible: commit makes them
// count, abandon takes them back where that can be done.
type output struct {
	w    io.Writer
	file *os.File // temporary file beside path; nil for a stream
	path string
	mode os.FileMode // of path
}

// openOutput prepares standard output or a temporary file beside path.
func openOutput(path string, o WriteOptions) (*output, error) {
	if path == "" || path == "-" {
		return standardOutput(o)
	}
	if err := checkNotInput(path, o.Inputs); err != nil {
		return nil, err
	}
	mode := 0o666 &^ umask()
	info, err := os.Stat(path)
	if err == nil {
		mode = info.Mode().Perm()
	}
	if err == nil && !info.Mode().IsRegular() { // a pipe or a device has no rename
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, inputError(path, plainCause(err), "")
		}
		widenPipe(f)
		return &output{w: f}, nil
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // a link stays a link
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return nil, inputError(path, plainCause(err), "choose a folder that exists and can be written")
	}
	return &output{w: f, file: f, path: path, mode: mode}, nil
}

func standardOutput(o WriteOptions) (*output, error) {
	if !o.Force && term.IsTerminal(int(os.Stdout.Fd())) {
		return nil, inputError("standard output", errors.New("is a terminal, and Arrow is binary"),
			"pipe it to another stage or mars inspect, write it with -o FILE, or insist with --force")
	}
	if err := checkNotStdin(os.Stdout, "standard output"); err != nil {
		return nil, err
	}
	catchSIGPIPE()
	widenPipe(os.Stdout)
	return &output{w: os.Stdout}, nil
}

// catchSIGPIPE has a write to a pipe that nobody reads fail with EPIPE, where it
// would end the process before it could clean up.
var catchSIGPIPE = sync.OnceFunc(func() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
})

// checkNotInput refuses to write over what is being read.
func checkNotInput(path string, inputs []string) error {
	out, err := os.Stat(path)
	if err != nil || !out.Mode().IsRegular() {
		return nil
	}
	for _, input := range inputs {
		if in, err := os.Stat(input); err == nil && os.SameFile(in, out) {
			return sameFileError(path)
		}
	}
	if in, err := os.Stdin.Stat(); err == nil && os.SameFile(in, out) {
		return sameFileError(path)
	}
	return nil
}

func checkNotStdin(f *os.File, name string) error {
	out, err := f.Stat()
	if err != nil || !out.Mode().IsRegular() {
		return nil
	}
	if in, err := os.Stdin.Stat(); err == nil && os.SameFile(in, out) {
		return sameFileError(name)
	}
	return nil
}

func sameFileError(path string) error {
	return inputError(path, errors.New("is input and output at once"), "write to another file, then rename it")
}

// commit makes the bytes written so far the output.
func (o *output) commit() error {
	if o.file == nil {
		return nil
	}
	err := o.file.Chmod(o.mode)
	if err == nil {
		err = o.file.Close()
	}
	if err == nil {
		err = os.Rename(o.file.Name(), o.path)
	}
	if err != nil {
		o.abandon()
		return inputError(o.path, plainCause(err), "")
	}
	o.file = nil
	return nil
}

// abandon removes the temporary file; what went down a pipe cannot be unsaid.
func (o *output) abandon() {
	if o.file != nil {
		o.file.Close()
		os.Remove(o.file.Name())
		o.file = nil
	}
}

// widenPipe asks for a larger pipe where the system allows it; fewer switches
// between the two programs is all that depends on it.
func widenPipe(f *os.File) {
	if info, err := f.Stat(); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
		setPipeSize(f)
	}
}
