//go:build unix

package arrowio

import (
	"os"
	"sync"
	"syscall"
)

// umask is the process' file mode mask, which can only be read by setting it.
var umask = sync.OnceValue(func() os.FileMode {
	mask := syscall.Umask(0)
	syscall.Umask(mask)
	return os.FileMode(mask)
})
