package arrowio

import "golang.org/x/sys/unix"

// machineMemory is how many bytes of memory the machine has.
func machineMemory() int64 {
	n, _ := unix.SysctlUint64("hw.memsize") // 0 with an error
	return int64(n)
}
