//go:build unix

package pipeline

import (
	"errors"
	"os"
	"syscall"
)

// flock locks an open file until it is closed: for this process alone, or shared
// with others that share it. It does not wait: a file that another process has
// locked gives errLocked.
func flock(f *os.File, shared bool) error {
	how := syscall.LOCK_EX
	if shared {
		how = syscall.LOCK_SH
	}
	for {
		err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EWOULDBLOCK):
			return errLocked
		}
		return err
	}
}
