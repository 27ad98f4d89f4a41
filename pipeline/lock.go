package pipeline

import (
	"context"
	"errors"
	"os"
	"time"
)

// A Lock is held on a key of a cache until Release, or until the process ends in
// whatever way.
type Lock struct{ file *os.File }

// lockPoll is the time between two tries to get a lock that another process holds.
const lockPoll = 50 * time.Millisecond

// useSuffix marks the lock of those who use an entry.
const useSuffix = ".use"

// Lock waits until no other process is making the entry of key, and then keeps
// others from making it. It calls waiting once, if it has to wait.
func (c *Cache) Lock(ctx context.Context, key string, waiting func()) (*Lock, error) {
	return c.lock(ctx, key, false, waiting)
}

func (c *Cache) lock(ctx context.Context, key string, shared bool, waiting func()) (*Lock, error) {
	for {
		l, err := c.tryLock(key, shared)
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

// Hold keeps an entry from being pruned while it is in use. It does not keep it from
// being made again: that is another lock. It returns nil where no lock can be had,
// as in a cache that can only be read.
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

// openLocked opens and locks a file. Another holder of the lock may have removed the
// file in between, so the lock counts only if the file is in place afterwards.
func openLocked(path string, shared bool) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|noFollow, 0o666)
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

// Release gives up the lock. It does nothing for a nil Lock.
func (l *Lock) Release() {
	if l != nil {
		l.file.Close()
	}
}
