package arrowio

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// machineMemory is how many bytes of memory the machine has, or the control group may have if
// that is less.
func machineMemory() int64 {
	n := int64(0)
	if info := (unix.Sysinfo_t{}); unix.Sysinfo(&info) == nil {
		n = int64(uint64(info.Totalram) * uint64(info.Unit))
	}
	for _, path := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		text, err := os.ReadFile(path)
		if most, bad := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && bad == nil && most > 0 && (n == 0 || most < n) {
			n = most
		}
	}
	return n
}
