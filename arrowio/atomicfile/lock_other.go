//go:build !unix

package atomicfile

import "os"

// lock has nothing to do: an open file cannot be removed here.
func lock(*os.File) bool { return true }
