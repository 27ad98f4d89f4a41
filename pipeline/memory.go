package pipeline

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// FreeMemory is how many bytes of memory are free for programs, 0 if the system does
// not say.
func FreeMemory() int64 {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "MemAvailable:"); ok {
			var kilobytes int64
			fmt.Sscan(rest, &kilobytes) //nolint:errcheck // then it is 0
			return kilobytes << 10
		}
	}
	return 0
}
