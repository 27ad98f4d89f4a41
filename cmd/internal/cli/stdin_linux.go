package cli

import (
	"context"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// inheritedStdin keeps the garbage collector from closing the original os.Stdin.
var inheritedStdin = os.Stdin

// interruptStdin makes reads of standard input fail once ctx has ended, if it is a
// pipe. A command that waits for rows then ends as well. Only nonblocking reads
// can be interrupted, and that mode belongs to the open file, which other
// processes share; so this process opens the pipe again.
func interruptStdin(ctx context.Context) {
	info, err := inheritedStdin.Stat()
	if err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		return
	}
	fd, err := unix.Open("/proc/self/fd/0", unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return // a read then ends with the next bytes
	}
	os.Stdin = os.NewFile(uintptr(fd), inheritedStdin.Name())
	context.AfterFunc(ctx, func() { os.Stdin.SetReadDeadline(time.Now()) })
}
