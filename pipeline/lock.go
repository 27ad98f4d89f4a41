package pipeline

import (
	"context"
	"errors"
	"os"
	"time"
)

// A Lock is held on a key of a cache until Release, or the end of the process,
// however it ends.
type Lock struct{ file *os.File }

// lockPoll is how often a lock that another process holds is tried again.
const lockPoll = 50 * time.Millisecond

// useSuffix marks the locks of users.
const useSuffix = ".use"

// Lock waits until no other process makes the entry of key. waiting is
// called once, if there is a wait.
func (c *Cache) Lock(ctx context.Context, key string, waiting func()) (*Lock, error) {
	for {
		l, err := c.tryLock(key, false)
		if !errors.Is(err, errLocked) {
			return l, err
		}
		if waiting != nil {
			waiting()
			waiting = nil
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lockPoll):
		}
	}
}

// Hold keeps an entry from being pruned while it is in use. Where there can be
// no lock (a cache to read from) there is none. Who makes an entry again does
// not wait for its users: that is another lock.
func (c *Cache) Hold(key string) *Lock {
	l, err := c.tryLock(key+useSuffix, true)
	if err != nil {
		return nil
	}
	return l
}

// errLocked means that another process has the lock.
var errLocked = errors.New("is locked by another process")

// tryLock locks the key's file, or fails with errLocked.
func (c *Cache) tryLock(key string, shared bool) (*Lock, error) {
	f, err := openLocked(c.path(locksDir, key), shared)
	if err != nil {
		return nil, err
	}
	return &Lock{f}, nil
}

// openLocked opens and locks a file. Who holds the lock may remove or rename the
// file, so it counts only on the one that is in place afterwards.
func openLocked(path string, shared bool) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			return nil, err
		}
		if err := flock(f, shared); err != nil {
			f.Close()
			return nil, err
		}
		held, errHeld := f.Stat()
		placed, errPlaced := os.Stat(path)
		if errHeld == nil && errPlaced == nil && os.SameFile(held, placed) {
			return f, nil
		}
		f.Close()
	}
}

// Release gives the lock back. A nil lock is fine.
func (l *Lock) Release() {
	if l != nil {
		l.file.Close()
	}
}
