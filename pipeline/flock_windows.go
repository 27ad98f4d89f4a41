package pipeline

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// flock locks an open file until it is closed: for this process alone, or shared
// with others that share it. It does not wait: a file that another process has
// locked gives errLocked.
func flock(f *os.File, shared bool) error {
	var flags uint32 = windows.LOCKFILE_FAIL_IMMEDIATELY
	if !shared {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errLocked
	}
	return err
}
