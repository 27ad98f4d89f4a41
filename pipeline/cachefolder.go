package pipeline

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"mars.dev/mars/arrowio/atomicfile"
)

// DefaultCacheDir is where the cache is unless another folder is named: in the
// user's folder for caches; "" if the user has none.
func DefaultCacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "mars")
}

// The file that makes a folder a cache of mars. It tells backup programs to leave the
// folder out, too (https://bford.info/cachedir).
const (
	tagName = "CACHEDIR.TAG"
	tagText = "Signature: 8a477f597d28d172789f06886806bc55\n# A cache of mars; see mars cache --help.\n"
)

// privateMode keeps other users out: what is in a cache is believed.
const privateMode = 0o700

// OpenCache opens the cache in a folder, or makes one in a folder that is empty or not
// there; an UnwritableError says that it cannot. A cache that cannot be written is one to
// read from. It refuses a folder that has other files, and one that other users could
// have written into.
func OpenCache(dir string) (*Cache, error) {
	c := &Cache{Dir: dir}
	if err := os.MkdirAll(dir, privateMode); err != nil {
		return nil, &UnwritableError{dir, err}
	}
	if err := c.checkFolder(); err != nil {
		return nil, err
	}
	if c.ReadOnly = c.prepare(); c.ReadOnly != nil && !c.isTagged() {
		return nil, &UnwritableError{dir, c.ReadOnly}
	}
	return c, nil
}

// UnwritableError is why a folder is no cache and cannot become one.
type UnwritableError struct {
	Dir string
	Err error
}

func (e *UnwritableError) Error() string {
	cause := plainCause(e.Err)
	var number syscall.Errno
	if errors.As(cause, &number) { // without the name of a file that nobody has asked for
		cause = number
	}
	return fmt.Sprintf("%s: cannot hold a cache: %v: name a folder that can be written", e.Dir, cause)
}

func (e *UnwritableError) Unwrap() error { return e.Err }

// FindCache opens the cache in a folder, and makes nothing. One that is not there has
// no entries.
func FindCache(dir string) (*Cache, error) {
	c := &Cache{Dir: dir}
	_, err := os.Stat(dir)
	switch {
	case dir == "" || errors.Is(err, os.ErrNotExist):
		return c, nil
	case err != nil:
		return nil, &UnwritableError{dir, err}
	}
	return c, c.checkFolder()
}

// checkFolder refuses a folder that is no cache, or not the user's alone. One that is
// empty may become a cache.
func (c *Cache) checkFolder() error {
	if info, err := os.Stat(c.Dir); err == nil && !info.IsDir() {
		return &UnwritableError{c.Dir, syscall.ENOTDIR}
	}
	if _, err := os.ReadDir(c.Dir); errors.Is(err, os.ErrPermission) {
		return &UnwritableError{c.Dir, err}
	}
	empty := c.isEmpty()
	if !empty && !c.isTagged() {
		return fmt.Errorf("%s: is no cache of mars, and has files in it: name another folder, empty or not there yet", c.Dir)
	}
	if err := makePrivate(c.Dir, empty); err != nil {
		return fmt.Errorf("%s: %w", c.Dir, err)
	}
	for _, sub := range subfolders {
		if info, err := os.Lstat(filepath.Join(c.Dir, sub)); err == nil && !info.IsDir() {
			return fmt.Errorf("%s: %s is no folder: name another cache", c.Dir, sub)
		}
	}
	return nil
}

// isEmpty reports whether nothing is in the folder, but for what another process that
// is making the cache has written.
func (c *Cache) isEmpty() bool {
	files, err := os.ReadDir(c.Dir)
	for _, f := range files {
		if !atomicfile.IsTemporary(f.Name(), tagName) {
			return false
		}
	}
	return err == nil
}

// isTagged reports whether the folder has the file that marks our caches.
func (c *Cache) isTagged() bool {
	path := filepath.Join(c.Dir, tagName)
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, int64(len(tagText))))
	return err == nil && string(text) == tagText
}

// prepare makes what is missing of a cache. Its error is why it cannot be written.
func (c *Cache) prepare() error {
	if !c.isTagged() {
		if err := atomicfile.WriteFile(filepath.Join(c.Dir, tagName), []byte(tagText)); err != nil {
			return err
		}
	}
	for _, sub := range subfolders {
		if err := os.Mkdir(filepath.Join(c.Dir, sub), privateMode); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	probe, err := os.OpenFile(c.path(locksDir, "probe"), os.O_RDWR|os.O_CREATE|noFollow, 0o666)
	if err != nil {
		return err
	}
	return probe.Close()
}

// subfolders are those of a cache.
var subfolders = []string{entriesDir, originsDir, buildingDir, locksDir, checkpointsDir}

// createNew makes a file that is not there. It never follows a link.
func createNew(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
}

// writeNew writes a file that is not there.
func writeNew(path string, data []byte) error {
	f, err := createNew(path)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// isOurs reports whether a file in one of the cache's folders has one of our names: KEY,
// what is written on the way to it, or one of the prefixes.
func isOurs(name string, prefixes ...string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	key, _, _ := strings.Cut(strings.TrimPrefix(name, "."), ".")
	return isKey(name) || isKey(key) && atomicfile.IsTemporary(name, key)
}
