package main

import (
	"os"
	"syscall"
)

// peakOf is the most memory that a process held at once.
func peakOf(p *os.ProcessState) int64 { return p.SysUsage().(*syscall.Rusage).Maxrss << 10 }
