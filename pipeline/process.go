package pipeline

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"mars.dev/mars/arrowio"
)

// processes starts every stage as a process of the program.
type processes struct{ program string }

// ProgressVariable is the environment variable with the number of the file
// descriptor to which a stage reports its progress, in lines "what done total". At its
// end it reports PeakReport, its peak memory in bytes, and 0.
const (
	ProgressVariable = "MARS_PROGRESS_FD"
	PeakReport       = "peak-memory"
)

// grace is how long a stage may take to end after it was asked to.
const grace = 5 * time.Second

type process struct {
	cmd     *exec.Cmd
	label   string
	sink    arrowio.Sink
	out     *os.File       // its standard output
	alive   *os.File       // a pipe that ends with this process: see ParentVariable
	readers sync.WaitGroup // of its log and its progress
	last    []string       // lines of its log
	held    int64          // its peak memory, in bytes
}

func (l processes) start(ctx context.Context, t task) (job, error) {
	p := &process{label: t.node.Label()}
	args := append(strings.Fields(t.node.Stage.Name), t.args...)
	p.cmd = exec.CommandContext(ctx, l.program, args...)
	p.cmd.Args[0] = "mars"
	p.cmd.Cancel = func() error { return Stop(p.cmd.Process) }
	p.cmd.WaitDelay = grace
	p.cmd.SysProcAttr = dieWithParent()
	if err := p.launch(t); err != nil {
		return nil, err
	}
	return p, nil
}

// Stop asks a process to end, or kills it where the system has no way to ask.
func Stop(p *os.Process) error {
	if err := p.Signal(syscall.SIGTERM); err == nil || errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return p.Kill()
}

// launch starts the process: standard input from a file or a pipe, and pipes for
// all that comes out.
func (p *process) launch(t task) error {
	e := &ends{}
	switch {
	case t.stream:
		stdin, w := e.toProcess()
		p.cmd.Stdin = stdin
		p.sink = &stdinSink{arrowio.NewWriter(w, "the pipe to "+p.label, arrowio.WriteOptions{}), w}
	case t.file != "":
		p.cmd.Stdin = e.open(t.file)
	}
	out, stdout := e.fromProcess()
	messages, stderr := e.fromProcess()
	reports, progress := e.fromProcess()
	parent, alive := e.toProcess()
	p.alive = alive
	p.out, p.cmd.Stdout, p.cmd.Stderr = out, stdout, stderr
	if runtime.GOOS != "windows" { // which hands down no other files
		p.cmd.ExtraFiles = []*os.File{progress, parent}
		p.cmd.Env = append(os.Environ(), ProgressVariable+"=3", ParentVariable+"=4")
	}
	if err := e.start(p.cmd); err != nil {
		return fmt.Errorf("%s: cannot be started: %w", p.label, err)
	}
	p.readers.Go(func() { p.readMessages(messages, t.log) })
	p.readers.Go(func() {
		p.held = ReadReports(reports, t.progress)
		reports.Close()
	})
	return nil
}

// keptLines is how many of the last lines of a stage's log are kept, to quote in its
// failure.
const keptLines = 20

func (p *process) readMessages(r *os.File, log func(string)) {
	defer r.Close()
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if p.last = append(p.last, lines.Text()); len(p.last) > keptLines {
			p.last = p.last[1:]
		}
		if !p.isFailure(lines.Text()) {
			log(lines.Text())
		}
	}
	io.Copy(io.Discard, r) //nolint:errcheck // what follows a line that is too long
}

// isFailure reports whether a line is the error that a command ends with.
func (p *process) isFailure(line string) bool { return strings.HasPrefix(line, "mars ") }

// ReadReports reads what a stage reports to ProgressVariable until it ends, and returns its peak memory.
func ReadReports(r io.Reader, progress func(what string, done, total int64)) (peak int64) {
	for lines := bufio.NewScanner(r); lines.Scan(); {
		var what string
		var done, total int64
		switch n, _ := fmt.Sscan(lines.Text(), &what, &done, &total); {
		case n != 3:
		case what == PeakReport:
			peak = done
		default:
			progress(what, done, total)
		}
	}
	return peak
}

func (p *process) in() arrowio.Sink { return p.sink }

func (p *process) rows() (arrowio.Stream, error) {
	return arrowio.NewReader(p.out, "output of "+p.label, arrowio.ReadOptions{})
}

func (p *process) text() io.Reader { return p.out }

func (p *process) wait() error {
	io.Copy(io.Discard, p.out) //nolint:errcheck // the exit status says more
	p.out.Close()
	p.readers.Wait()
	err := p.cmd.Wait()
	p.alive.Close()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	return &StageError{Label: p.label, Message: p.reason(exit), Status: exit.ExitCode(), Err: err}
}

func (p *process) peak() int64 { return p.held }

// reason is the error that the command ended with, without the command's name: the
// label says that.
func (p *process) reason(exit *exec.ExitError) string {
	for i := len(p.last) - 1; i >= 0; i-- {
		if p.isFailure(p.last[i]) {
			if _, message, ok := strings.Cut(p.last[i], ": "); ok {
				return message
			}
		}
	}
	if len(p.last) > 0 {
		return p.last[len(p.last)-1] + " (" + exit.String() + ")"
	}
	return exit.String()
}

// stdinSink writes rows to a process, and then closes the pipe.
type stdinSink struct {
	*arrowio.Writer
	pipe *os.File
}

func (s *stdinSink) Close() error {
	return errors.Join(s.Writer.Close(), s.pipe.Close())
}

func (s *stdinSink) Fail(cause error) {
	s.Writer.Fail(cause)
	s.pipe.Close()
}
