//go:build !unix

package arrowio

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// fileKey is equal for the same file under names that differ by symbolic links and
// case. Hard links are not seen.
func fileKey(path string, _ fs.FileInfo) string {
	real, err := filepath.EvalSymlinks(path)
	if path == "" || err != nil {
		return ""
	}
	absolute, err := filepath.Abs(real)
	if err != nil {
		return ""
	}
	return placeKey(absolute)
}

// placeKey is the key of a file that is not there yet.
func placeKey(path string) string { return strings.ToLower(path) }
