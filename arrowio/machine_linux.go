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
		text, _ := os.ReadFile(path) //nolint:errcheck // there is no limit
		n = allowed(n, string(text))
	}
	return n
}

// allowed is n, 0 if that is not known, or what the limit of a control group leaves of it.
func allowed(n int64, limit string) int64 {
	most, err := strconv.ParseInt(strings.TrimSpace(limit), 10, 64)
	if err != nil || most <= 0 || n > 0 && n < most {
		return n
	}
	return most
}
