//go:build unix

package pipeline

import (
	"errors"
	"os"
	"syscall"
)

// flock locks an open file for this process, exclusively or shared with others
// that do the same. Without wait it fails with errLocked where it would have to.
// The lock ends with the file's closing.
func flock(f *os.File, shared, wait bool) error {
	how := syscall.LOCK_EX
	if shared {
		how = syscall.LOCK_SH
	}
	if !wait {
		how |= syscall.LOCK_NB
	}
	for {
		err := syscall.Flock(int(f.Fd()), how)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errLocked
		}
		return err
	}
}
