package arrowio

import (
	"os"

	"golang.org/x/sys/unix"
)

// pipeSize is what pipes between stages are widened to: a batch fits.
const pipeSize = 1 << 20

func setPipeSize(f *os.File) {
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	conn.Control(func(fd uintptr) {
		unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize)
	})
}
