//go:build unix

package pipeline

import (
	"errors"
	"os"
	"syscall"
)

// noFollow has a file that is a link not opened.
const noFollow = syscall.O_NOFOLLOW

// makePrivate keeps other users out of a folder. It refuses one that is another user's,
// the system's excepted, and one in which others could have written, unless it is empty.
func makePrivate(dir string, empty bool) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	const others, othersWrite = 0o077, 0o022
	owner, mode := info.Sys().(*syscall.Stat_t).Uid, info.Mode().Perm()
	own := int(owner) == os.Geteuid()
	switch {
	case !own && owner != 0:
		return errors.New("belongs to another user, who could have put anything in it: name another folder")
	case mode&othersWrite != 0 && !(own && empty):
		return errors.New("other users may write in it, so what is in it cannot be believed: remove it, or name another folder")
	case own && mode&others != 0:
		os.Chmod(dir, privateMode) //nolint:errcheck // they can read, in a file system that cannot be changed
	}
	return nil
}

// isOwn reports whether a folder, which is no link, is the user's.
func isOwn(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir() && int(info.Sys().(*syscall.Stat_t).Uid) == os.Geteuid()
}
