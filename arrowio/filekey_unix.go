//go:build unix || js

package arrowio

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// fileKey is equal for the same file under whatever names.
func fileKey(_ string, info fs.FileInfo) string {
	is, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d:%d", is.Dev, is.Ino)
}

// openKey is the key of an open file.
func openKey(_ *os.File, info fs.FileInfo) string { return fileKey("", info) }

// placeKey is the key of a file that is not there yet.
func placeKey(path string) string { return path }
