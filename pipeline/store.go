package pipeline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// A store is where a run keeps what stages put out: in the cache while that can be
// written. After that, what has to be kept all the same (several stages read it, or
// it becomes an output) goes to a scratch folder, which is removed when the run ends.
type store struct {
	cache *Cache // nil if none is wanted
	warn  func(string)

	mu      sync.Mutex
	broken  error  // why the cache takes no more; nil if it does
	scratch *Cache // nil until it is needed
	remove  func() // its folder
}

func newStore(cache *Cache, warn func(string)) *store {
	s := &store{cache: cache, warn: warn}
	if cache != nil && cache.ReadOnly == nil {
		cache.sweepOld()
	}
	if cache != nil && cache.ReadOnly != nil {
		s.broken = cache.ReadOnly
		warn(fmt.Sprintf("cache %s cannot be written: %v: what is in it is used, and nothing is added", cache.Dir, plainCause(cache.ReadOnly)))
	}
	return s
}

// plainCause is an error without the path in it, which means nothing to the user.
func plainCause(err error) error {
	if isFull(err) {
		return errors.New("no room is left on its disk")
	}
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// writable is the cache if it takes entries, else nil.
func (s *store) writable() *Cache {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cache == nil || s.broken != nil {
		return nil
	}
	return s.cache
}

// giveUp stops writing to the cache after an error.
func (s *store) giveUp(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cache == nil || s.broken != nil {
		return
	}
	s.broken = err
	s.warn(fmt.Sprintf("cache %s: %v: going on without it; make room with mars cache prune, or choose another with --cache", s.cache.Dir, plainCause(err)))
}

// temporary is the scratch cache.
func (s *store) temporary() (*Cache, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.scratch != nil {
		return s.scratch, nil
	}
	dir, remove, err := makeScratch(scratchPrefix)
	if err != nil {
		return nil, err
	}
	if s.scratch, err = OpenCache(filepath.Join(dir, "cache")); err != nil {
		remove()
		return nil, err
	}
	s.remove = remove
	return s.scratch, nil
}

// scratchPrefix begins the names of scratch folders.
const scratchPrefix = "mars-run-"

// lookup finds an entry in the cache or the scratch folder, nil if there is none. One
// that is corrupt is dropped, with a warning.
func (s *store) lookup(key string) *Entry {
	s.mu.Lock()
	caches := []*Cache{s.cache, s.scratch}
	s.mu.Unlock()
	for _, c := range caches {
		if c == nil {
			continue
		}
		e, err := c.Lookup(key)
		if err != nil {
			s.drop(key, err)
		}
		if e != nil && err == nil {
			return e
		}
	}
	return nil
}

// verified returns the entry if its files match their hashes. If not, it drops the
// entry, with a warning, and returns nil.
func (s *store) verified(ctx context.Context, e *Entry, files ...EntryFile) *Entry {
	err := e.Verify(ctx, files...)
	if err != nil && ctx.Err() == nil { // else it was not read to its end
		s.drop(e.Key, err)
	}
	if err != nil {
		return nil
	}
	return e
}

func (s *store) drop(key string, why error) {
	s.warn(fmt.Sprintf("cache: %v: made again", why))
	if c := s.writable(); c != nil {
		if err := c.Drop(key); err != nil {
			s.giveUp(err)
		}
	}
}

// close removes the scratch folder.
func (s *store) close() {
	if s.remove != nil {
		s.remove()
	}
}

// isFull reports whether an error is that a disk is full. A stage in another process
// gives only its text.
func isFull(err error) bool {
	for _, full := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT} {
		var stage *StageError
		if errors.Is(err, full) || errors.As(err, &stage) && strings.Contains(stage.Message, full.Error()) {
			return true
		}
	}
	return false
}
