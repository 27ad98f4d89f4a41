//go:build unix

// Package cost says what processes took.
package cost

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

// A Cost is what a process took: seconds of wall clock and of all processors, and the most
// megabytes (2²⁰) of memory at a time.
type Cost struct{ Wall, Processors, Peak float64 }

// Of runs a command. Where it fails, the error has what it said.
func Of(cmd *exec.Cmd) (Cost, error) {
	var said bytes.Buffer
	cmd.Stderr = &said
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return Cost{}, fmt.Errorf("%s: %w\n%s", strings.Join(append([]string{filepath.Base(cmd.Path)}, cmd.Args[1:]...), " "), err, said.Bytes())
	}
	return Since(start, cmd.ProcessState), nil
}

// Since is the cost of a process that ended, and was started then.
func Since(start time.Time, ended *os.ProcessState) Cost {
	return Cost{time.Since(start).Seconds(), (ended.UserTime() + ended.SystemTime()).Seconds(), megabytes(ended.SysUsage().(*syscall.Rusage))}
}

// megabytes is the peak of what a process used, which systems give in units of their own.
func megabytes(use *syscall.Rusage) float64 {
	if runtime.GOOS == "darwin" {
		return float64(use.Maxrss) / (1 << 20)
	}
	return float64(use.Maxrss) / (1 << 10)
}
