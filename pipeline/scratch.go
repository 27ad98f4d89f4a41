package pipeline

import (
	"os"
	"path/filepath"
)

// scratchLock is locked as long as a scratch folder is in use.
const scratchLock = ".lock"

// makeScratch makes a temporary folder whose name begins with prefix, and removes those that
// processes which were killed have left.
func makeScratch(prefix string) (dir string, remove func(), err error) {
	sweepScratch(prefix)
	if dir, err = os.MkdirTemp("", prefix+"*"); err != nil {
		return "", nil, err
	}
	lock, err := openLocked(filepath.Join(dir, scratchLock), false)
	if err != nil {
		os.RemoveAll(dir)
		return "", nil, err
	}
	return dir, func() {
		os.RemoveAll(dir)
		lock.Close()
	}, nil
}

// sweepScratch removes the scratch folders whose lock is free.
func sweepScratch(prefix string) {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*")) //nolint:errcheck // the pattern is good
	for _, dir := range left {
		path := filepath.Join(dir, scratchLock)
		if _, err := os.Lstat(path); err != nil || !isOwn(dir) {
			continue // another user's, or not begun
		}
		if lock, err := openLocked(path, false); err == nil {
			os.RemoveAll(dir) //nolint:errcheck // the next run tries again
			lock.Close()
		}
	}
}
