//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// longFit takes many seconds.
const longFit = "cluster --method kmeans --components 150 --starts 1000 --embedding embedding -o out.arrow rows.arrow"

// A program whose parent is killed ends as if it were interrupted, whether the pipe that
// tells it is its standard input or another descriptor.
func TestEndsWithItsParent(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	for _, fd := range []int{0, 3} {
		t.Run(fmt.Sprint(fd), func(t *testing.T) {
			dir := t.TempDir()
			writeRows(t, dir+"/rows.arrow", rowsOf{rows: 40_000, width: 20, classes: 3, components: 3, batch: 10_000})
			cmd := exec.Command("mars", strings.Fields(longFit)...)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "TMPDIR="+dir, fmt.Sprintf("MARS_PARENT_FD=%d", fd))
			theirs, ours, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			if cmd.Stdin = theirs; fd > 0 {
				cmd.Stdin, cmd.ExtraFiles = nil, []*os.File{theirs}
			}
			var log bytes.Buffer
			cmd.Stderr = &log
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			theirs.Close()
			ended := make(chan struct{})
			go func() {
				cmd.Wait() //nolint:errcheck // the status is looked at
				close(ended)
			}()
			select {
			case <-ended:
				t.Fatalf("it has ended before its parent: %v\n%s", cmd.ProcessState, &log)
			case <-time.After(time.Second):
			}
			ours.Close() // as the system does when its owner is killed
			select {
			case <-ended:
			case <-time.After(20 * time.Second):
				cmd.Process.Kill() //nolint:errcheck // it may have ended
				<-ended
			}
			if code := cmd.ProcessState.ExitCode(); code != 130 || !strings.HasSuffix(log.String(), ": interrupted\n") {
				t.Errorf("%v, messages\n%s", cmd.ProcessState, &log)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
				t.Errorf("files are left: %v, error %v", left, err)
			}
		})
	}
}
