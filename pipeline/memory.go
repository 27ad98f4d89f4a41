package pipeline

import (
	"fmt"
	"os"
	"strings"
)

// FreeMemory is how many bytes of memory are free for programs, 0 if the system does
// not say.
func FreeMemory() int64 { return kilobytes("/proc/meminfo", "MemAvailable:") << 10 }

// PeakMemory is the most bytes of memory that this process has held at once, 0 if the
// system does not say. What the system tells a parent of it counts the parent's own
// memory too (getrusage(2)), so a stage reports it itself.
func PeakMemory() int64 { return kilobytes("/proc/self/status", "VmHWM:") << 10 }

// kilobytes is the number after a key in a file of lines "key number kB", 0 if it is
// not there.
func kilobytes(path, key string) int64 {
	text, _ := os.ReadFile(path) //nolint:errcheck // then there is no line
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, key); ok {
			var n int64
			fmt.Sscan(rest, &n) //nolint:errcheck // then it is 0
			return n
		}
	}
	return 0
}
