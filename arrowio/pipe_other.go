//go:build !linux

package arrowio

import "os"

// setPipeSize does nothing: only Linux lets the size of a pipe be set.
func setPipeSize(*os.File) {}
