package arrowio

import (
	"errors"
	"io"
	"os"

	"golang.org/x/term"

	"mars.dev/mars/arrowio/atomicfile"
)

// output is where the bytes go. Those of a file count once it is committed.
type output struct {
	w    io.Writer
	file *atomicfile.File // nil for a stream that somebody else opened
}

// openOutput opens standard output or a file.
func openOutput(path string, o WriteOptions) (*output, error) {
	if path == "" || path == "-" {
		return standardOutput(o)
	}
	if err := CheckFiles(nil, []FileUse{{Path: path}}); err != nil {
		return nil, err
	}
	f, err := atomicfile.Create(path)
	if err != nil {
		return nil, inputError(path, plainCause(err), "write to a file in a folder that exists and can be written")
	}
	if f.Direct() {
		widenPipe(f.File)
	}
	return &output{w: f, file: f}, nil
}

func standardOutput(o WriteOptions) (*output, error) {
	if !o.Force && term.IsTerminal(int(os.Stdout.Fd())) {
		return nil, inputError("standard output", errors.New("is a terminal, and Arrow is binary"),
			"pipe it to another stage or mars view, write it with -o FILE, or insist with --force")
	}
	if err := CheckFiles(nil, nil); err != nil {
		return nil, err
	}
	widenPipe(os.Stdout)
	return &output{w: StandardOutput()}, nil
}

// isDirect reports whether bytes are out as soon as they are written.
func (o *output) isDirect() bool { return o.file == nil || o.file.Direct() }

// commit makes the bytes written so far the output.
func (o *output) commit() error {
	if o.file == nil {
		return nil
	}
	return o.file.Commit()
}

// giveUp leaves a file as it was. What is out cannot be taken back.
func (o *output) giveUp() {
	if o.file != nil {
		o.file.Close() //nolint:errcheck // the failure is being reported
	}
}

// widenPipe asks for a larger pipe, where the system allows it: the two programs
// then take turns less often.
func widenPipe(f *os.File) {
	if info, err := f.Stat(); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
		setPipeSize(f)
	}
}

// CheckOutput reports now what Create would report later of a path: a folder that does not
// exist or cannot be written, or standard output that is a terminal. It leaves the path as
// it is. Devices and named pipes are not looked at.
func CheckOutput(path string, o WriteOptions) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil
	}
	out, err := openOutput(path, o)
	if err != nil || out.file == nil {
		return err
	}
	return out.file.Close()
}
