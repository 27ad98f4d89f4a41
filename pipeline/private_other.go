//go:build !unix

package pipeline

import "os"

// noFollow is nothing that can be asked for here.
const noFollow = 0

// makePrivate does nothing: folders have no modes here, and a user's own are private.
func makePrivate(string, bool) error { return nil }

// isOwn reports whether a path is a folder.
func isOwn(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir()
}
