package pipeline

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A ListEntry is an entry, or the key of one that is corrupt and why.
type ListEntry struct {
	*Entry
	Key  string
	Used time.Time
	Err  error
}

// List gives all entries, the one used last first.
func (c *Cache) List() ([]ListEntry, error) {
	folders, err := os.ReadDir(filepath.Join(c.Dir, entriesDir))
	if c.Dir == "" || errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []ListEntry
	for _, f := range folders {
		if !isKey(f.Name()) {
			continue
		}
		e, err := c.Lookup(f.Name())
		if e == nil && err == nil {
			continue // it was dropped in the meantime
		}
		l := ListEntry{Entry: e, Key: f.Name(), Err: err}
		if info, err := os.Stat(filepath.Join(c.path(entriesDir, f.Name()), manifestName)); err == nil {
			l.Used = info.ModTime()
		}
		all = append(all, l)
	}
	slices.SortStableFunc(all, func(a, b ListEntry) int { return b.Used.Compare(a.Used) })
	return all, nil
}

// Verify reads all entries and drops those that do not match their hashes. It returns
// ctx.Err() if ctx ends.
func (c *Cache) Verify(ctx context.Context, report func(ListEntry, error)) (dropped int, err error) {
	all, err := c.List()
	if err != nil {
		return 0, err
	}
	for _, l := range all {
		bad := l.Err
		if bad == nil {
			bad = l.Entry.Verify(ctx)
		}
		if ctx.Err() != nil { // the entry was not read to its end
			return dropped, errors.Join(err, ctx.Err())
		}
		report(l, bad)
		if bad != nil {
			dropped++
			err = errors.Join(err, c.Drop(l.Key))
		}
	}
	return dropped, err
}

// Prune drops entries, those that were used longest ago first, until the rest
// takes no more than maxSize bytes. Those that a run is using stay.
func (c *Cache) Prune(maxSize int64) (dropped int, freed int64, err error) {
	if !c.isTagged() {
		return 0, 0, nil
	}
	all, err := c.List()
	if err != nil {
		return 0, 0, err
	}
	total := int64(0)
	for _, l := range all {
		if l.Err != nil || total+l.Size() > maxSize {
			gone, err := c.dropUnused(l.Key)
			if err != nil {
				return dropped, freed, err
			}
			if gone {
				dropped++
				if l.Entry != nil {
					freed += l.Size()
				}
				continue
			}
		}
		if l.Entry != nil {
			total += l.Size()
		}
	}
	return dropped, freed, c.sweep(maxSize == 0)
}

// Clear drops all that no run is using.
func (c *Cache) Clear() (dropped int, freed int64, err error) { return c.Prune(0) }

// dropUnused drops an entry, unless it is being made or used, and says whether it did.
func (c *Cache) dropUnused(key string) (bool, error) {
	var held []*Lock
	defer func() {
		for _, l := range held {
			os.Remove(l.file.Name())
			l.Release()
		}
	}()
	for _, name := range []string{key, key + useSuffix} {
		l, err := c.tryLock(name, false)
		if errors.Is(err, errLocked) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		held = append(held, l)
	}
	return true, c.Drop(key)
}

// How long what a killed process may have left is kept. A user may come back for a
// checkpoint.
const (
	temporaryAge  = 24 * time.Hour
	checkpointAge = 30 * 24 * time.Hour
)

// sweep removes what killed processes have left: half-made entries, temporary files
// that are old, and checkpoints that are old, or all of them; and the origins that
// nobody needs any more.
func (c *Cache) sweep(all bool) error {
	building := c.removeLeft(buildingDir, func(name string, age time.Duration) bool {
		return isKey(name) || isOurs(name, spoolPrefix, droppedPrefix) && age > temporaryAge
	})
	checkpoints := c.removeLeft(checkpointsDir, func(name string, age time.Duration) bool {
		return isOurs(name) && (all || age > checkpointAge)
	})
	return errors.Join(building, checkpoints, c.sweepOrigins())
}

// sweepOld removes what processes that were killed a day ago were making.
func (c *Cache) sweepOld() {
	c.removeLeft(buildingDir, func(name string, age time.Duration) bool { //nolint:errcheck // the next run tries again
		return isOurs(name, spoolPrefix, droppedPrefix) && age > temporaryAge
	})
}

// removeLeft removes the leftovers of a kind.
func (c *Cache) removeLeft(kind string, left func(name string, age time.Duration) bool) error {
	paths, err := c.leftovers(kind, left)
	for _, path := range paths {
		err = errors.Join(err, os.RemoveAll(path))
	}
	return err
}

// leftovers are the files of a kind that left says are left, and that belong to no
// entry that is being made.
func (c *Cache) leftovers(kind string, left func(name string, age time.Duration) bool) ([]string, error) {
	files, err := os.ReadDir(filepath.Join(c.Dir, kind))
	var found []string
	for _, f := range files {
		if info, err := f.Info(); err == nil && left(f.Name(), time.Since(info.ModTime())) && !c.busy(f.Name()) {
			found = append(found, c.path(kind, f.Name()))
		}
	}
	return found, err
}

// busy reports whether somebody is making the entry that a file belongs to (KEY,
// or, while it is being written, .KEY.mars- and random digits), or is using a spooled input.
func (c *Cache) busy(name string) bool {
	if strings.HasPrefix(name, spoolPrefix) {
		f, err := openLocked(c.path(buildingDir, name), false)
		if err == nil {
			f.Close()
		}
		return err != nil
	}
	key, _, _ := strings.Cut(strings.TrimPrefix(name, "."), ".")
	if _, err := os.Stat(c.path(locksDir, key)); errors.Is(err, fs.ErrNotExist) {
		return false
	}
	l, err := c.tryLock(key, false)
	l.Release()
	return err != nil
}
