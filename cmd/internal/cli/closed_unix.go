//go:build unix

package cli

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// isClosed reports whether a file was closed when the program began, as far as can be told:
// Go's runtime has opened the null device for it then, for reading and writing. Shells open
// it for writing alone, but some programs that discard an output do as Go does.
func isClosed(f *os.File) bool {
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE != unix.O_RDWR {
		return false
	}
	is, err := f.Stat()
	if err != nil {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err == nil && os.SameFile(is, null)
}

// outliveReader has a reader that goes away noticed as EPIPE by the writer, which then cleans
// up; the signal would kill the process before it could.
func outliveReader() { signal.Ignore(syscall.SIGPIPE) }
