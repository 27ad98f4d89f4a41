//go:build !unix

package arrowio

import "os"

// umask is 0 where files have no mode mask.
func umask() os.FileMode { return 0 }
