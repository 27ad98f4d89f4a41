//go:build unix

package atomicfile

import (
	"os"
	"syscall"
)

// lock marks a file as being written, until it is closed. It fails if the file
// is marked already, or cannot be.
func lock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
