package pipeline

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// flock locks an open file for this process, exclusively or shared with others
// that do the same. Without wait it fails with errLocked where it would have to.
// The lock ends with the file's closing.
func flock(f *os.File, shared, wait bool) error {
	var flags uint32
	if !shared {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	if !wait {
		flags |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return errLocked
	}
	return err
}
