//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// A cost is what a process took: seconds of wall clock and of all processors, and the most
// megabytes of memory at a time.
type cost struct{ wall, processors, peak float64 }

// costOf runs a command. Where it fails, the error has what it said.
func costOf(cmd *exec.Cmd) (cost, error) {
	var said bytes.Buffer
	cmd.Stderr = &said
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return cost{}, fmt.Errorf("%s: %w\n%s", strings.Join(append([]string{filepath.Base(cmd.Path)}, cmd.Args[1:]...), " "), err, said.Bytes())
	}
	return costSince(start, cmd.ProcessState), nil
}

// costSince is the cost of a process that ended, and was started then.
func costSince(start time.Time, ended *os.ProcessState) cost {
	return cost{time.Since(start).Seconds(), (ended.UserTime() + ended.SystemTime()).Seconds(), megabytes(ended.SysUsage().(*syscall.Rusage))}
}

// megabytes is the peak of what a process used, which systems give in units of their own.
func megabytes(use *syscall.Rusage) float64 {
	if runtime.GOOS == "darwin" {
		return float64(use.Maxrss) / (1 << 20)
	}
	return float64(use.Maxrss) / (1 << 10)
}

// heading begins a table.
func heading(columns ...string) {
	fmt.Println("| " + strings.Join(columns, " | ") + " |\n" + strings.Repeat("|---", len(columns)) + "|")
}
