package arrowio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

// TestMain lets the test binary be a stage: with ARROWIO_STAGE set it passes
// standard input to standard output. It ends as commands do, or, if it is "plain",
// as a program that sets up no signals.
func TestMain(m *testing.M) {
	if os.Getenv("ARROWIO_STAGE") == "" {
		os.Exit(m.Run())
	}
	if os.Getenv("ARROWIO_STAGE") != "plain" { // as commands do, to clean up before they end
		signal.Ignore(syscall.SIGPIPE)
	}
	err := passThrough()
	if err != nil && !errors.Is(err, ErrBrokenPipe) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "quiet end")
	}
	os.Exit(0)
}

func passThrough() error {
	r, err := Open("-", ReadOptions{})
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := Create("-", WriteOptions{})
	if err != nil {
		return err
	}
	return Copy(context.Background(), w, r)
}

// stage is this test binary as a pass-through.
func stage() (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "ARROWIO_STAGE=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	return cmd, &stderr
}

func TestProcessesInARow(t *testing.T) {
	data := write(t, StreamKind, Compression{}, zooRecord(t), zooRecord(t))
	want := data
	for range 2 {
		cmd, stderr := stage()
		cmd.Stdin = bytes.NewReader(want)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, stderr)
		}
		want = out
	}
	if batches, rows, err := check(want); batches != 2 || rows != 10 || err != nil {
		t.Errorf("%d batches, %d rows, %v", batches, rows, err)
	}
}

// A stage whose upstream dies fails, says why, and so does any stage behind it.
func TestUpstreamDies(t *testing.T) {
	data := write(t, StreamKind, Compression{}, sampleRecord(t, 50), sampleRecord(t, 50))
	for _, n := range []int{0, 4, 100, len(data) / 2, len(data) - 8, len(data) - 1} {
		first, stderr := stage()
		first.Stdin = bytes.NewReader(data[:n])
		out, err := first.Output()
		if err == nil || !strings.HasPrefix(stderr.String(), "standard input: ") {
			t.Errorf("cut at %d: ends with %v: %s", n, err, stderr)
		}
		second, stderr := stage()
		second.Stdin = bytes.NewReader(out)
		if err := second.Run(); err == nil {
			t.Errorf("cut at %d: the second stage ends well", n)
		}
		if n > 1000 && !strings.Contains(stderr.String(), "the program before failed: standard input: ") {
			t.Errorf("cut at %d: the second stage says %s", n, stderr)
		}
	}
}

// A stage whose output nobody reads ends quietly, and of itself.
func TestDownstreamCloses(t *testing.T) {
	state, said := withoutReader(t, "1")
	if state.ExitCode() != 0 || said != "quiet end\n" {
		t.Errorf("%s: %s", state, said)
	}
}

// The package leaves signals alone: a program that sets up none ends as any Go
// program does when nobody reads its standard output.
func TestSignalsAreLeftAlone(t *testing.T) {
	state, said := withoutReader(t, "plain")
	if state.Sys().(syscall.WaitStatus).Signal() != syscall.SIGPIPE || said != "" {
		t.Errorf("%s: %s", state, said)
	}
}

// withoutReader runs a stage on an endless input until the reader of its output
// has gone.
func withoutReader(t *testing.T, kind string) (*os.ProcessState, string) {
	one := write(t, StreamKind, Compression{}, sampleRecord(t, 5000))
	two := write(t, StreamKind, Compression{}, sampleRecord(t, 5000), sampleRecord(t, 5000))
	start := len(one) - (len(two) - len(one)) - 8
	cmd, stderr := stage()
	cmd.Env = append(cmd.Env, "ARROWIO_STAGE="+kind)
	cmd.Stdin = &endless{start: one[:start], batch: one[start : len(one)-8]}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	io.CopyN(io.Discard, out, 1<<20)
	out.Close()
	if err := cmd.Wait(); err != nil && !strings.Contains(err.Error(), "broken pipe") { // of the goroutine that feeds it, or of the stage
		t.Errorf("ends with %v: %s", err, stderr)
	}
	return cmd.ProcessState, stderr.String()
}
