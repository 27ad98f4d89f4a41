package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"mars.dev/mars/arrowio/atomicfile"
)

// A Cache keeps what stages put out in a folder:
//
//	entries/KEY/      entry.json and the files of one node, renamed into place when complete,
//	                  and empty files encoded-HASH
//	origins/KEY       what a node depended on that some entry was made from
//	building/KEY/     an entry that is being made, by the process that has its lock
//	locks/KEY         locked by the process that makes the entry
//	locks/KEY.use     locked, shared, by all that use it
//	checkpoints/KEY   the state of a training that is not complete
//
// KEY is 64 hex digits, and nothing else in these folders is touched. Any number of
// processes may use a cache at once.
type Cache struct {
	Dir string
	// ReadOnly says why nothing can be added; nil if something can.
	ReadOnly error
}

const (
	entriesDir     = "entries"
	originsDir     = "origins"
	buildingDir    = "building"
	locksDir       = "locks"
	checkpointsDir = "checkpoints"
	manifestName   = "entry.json"
	// RowsName is the file of an entry that holds its rows, an Arrow file;
	// TextName that of its text.
	RowsName = "rows.arrow"
	TextName = "text"
)

// An Entry is what the cache keeps of one node, and how it was made.
type Entry struct {
	Key          string       `json:"key"`
	Dependencies Dependencies `json:"recipe"`
	Version      string       `json:"version"` // of the program that made it
	Created      time.Time    `json:"created"`
	Cost
	Rows  int64       `json:"rows"`
	Files []EntryFile `json:"files"`
	dir   string
}

// A Cost is what it took to make an output.
type Cost struct {
	Seconds float64 `json:"seconds"`        // since all input was there; of a training that was resumed, since then
	Peak    int64   `json:"peak,omitempty"` // memory in bytes, 0 if it is not known
}

// An EntryFile is a file of an entry: its rows, its text, or a file that a flag names.
type EntryFile struct {
	Flag   string `json:"flag,omitempty"` // "" for rows or text
	Name   string `json:"name"`           // in the entry's folder
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Path is where a file of the entry is.
func (e *Entry) Path(f EntryFile) string { return filepath.Join(e.dir, f.Name) }

// File is the entry's file for a flag, or its rows or text ("").
func (e *Entry) File(flag string) (EntryFile, bool) {
	for _, f := range e.Files {
		if f.Flag == flag {
			return f, true
		}
	}
	return EntryFile{}, false
}

// encodedPrefix begins the names of empty files in an entry's folder, which end in the
// hashes of files that were made of its rows in another layout. So provenance knows
// them, although they are not kept.
const encodedPrefix = "encoded-"

func (e *Entry) noteEncoded(sum string) {
	writeNew(filepath.Join(e.dir, encodedPrefix+sum), nil) //nolint:errcheck // only provenance misses it
}

// fileOf is the file of the entry that has a hash, or the rows if a file that was made
// of them has.
func (e *Entry) fileOf(sum string) (EntryFile, bool) {
	for _, f := range e.Files {
		if f.SHA256 == sum {
			return f, true
		}
	}
	if _, err := os.Stat(filepath.Join(e.dir, encodedPrefix+sum)); err != nil {
		return EntryFile{}, false
	}
	return e.File("")
}

// Size in bytes of all files.
func (e *Entry) Size() (total int64) {
	for _, f := range e.Files {
		total += f.Size
	}
	return total
}

// keyName is what keys look like.
var keyName = regexp.MustCompile(`^[0-9a-f]{64}$`)

func isKey(name string) bool { return keyName.MatchString(name) }

func (c *Cache) path(kind, key string) string { return filepath.Join(c.Dir, kind, key) }

// ErrCorrupt marks an entry that is not what it was when it was made.
var ErrCorrupt = errors.New("does not match its hash")

// Lookup finds the entry of a key: nil if there is none, ErrCorrupt if its
// files are not those that were written.
func (c *Cache) Lookup(key string) (*Entry, error) {
	dir := c.path(entriesDir, key)
	info, err := os.Lstat(dir)
	if !isKey(key) || err != nil {
		//lint:ignore lostnil an entry that cannot be read is none
		return nil, nil
	}
	e := &Entry{dir: dir}
	if !info.IsDir() || e.read(key) != nil {
		return nil, fmt.Errorf("%s: its manifest %w", dir, ErrCorrupt)
	}
	if err := e.check(); err != nil {
		return nil, err
	}
	return e, nil
}

// read reads the manifest of an entry.
func (e *Entry) read(key string) error {
	text, err := os.ReadFile(filepath.Join(e.dir, manifestName))
	if err == nil {
		err = json.Unmarshal(text, e)
	}
	if err == nil && (e.Key != key || e.Dependencies.Key() != key) {
		err = ErrCorrupt
	}
	return err
}

// check checks that the files of an entry are in its folder, and as large as they were.
func (e *Entry) check() error {
	dir, err := os.OpenRoot(e.dir) // out of which no name and no link leads
	if err != nil {
		return fmt.Errorf("%s: its folder %w", e.dir, ErrCorrupt)
	}
	defer dir.Close()
	for _, f := range e.Files {
		info, err := dir.Stat(f.Name)
		if err != nil || !info.Mode().IsRegular() || info.Size() != f.Size {
			return fmt.Errorf("%s: %q %w", e.dir, f.Name, ErrCorrupt)
		}
	}
	return nil
}

// Verify reads files of an entry, all unless some are named, and compares their
// hashes.
func (e *Entry) Verify(ctx context.Context, files ...EntryFile) error {
	if files == nil {
		files = e.Files
	}
	for _, f := range files {
		sum, err := hashFile(ctx, e.Path(f))
		if err != nil {
			return fmt.Errorf("%s: %w", e.dir, err)
		}
		if sum != f.SHA256 {
			return fmt.Errorf("%s: %s %w", e.dir, f.Name, ErrCorrupt)
		}
	}
	return nil
}

// Touch notes that the entry was used, for Prune.
func (e *Entry) Touch() {
	now := time.Now()
	os.Chtimes(filepath.Join(e.dir, manifestName), now, now) //nolint:errcheck // a cache that is read only keeps its order
}

// The beginnings of the names of temporary files and folders in building.
const (
	droppedPrefix = ".dropped-"
	spoolPrefix   = ".spool-"
)

// Drop removes an entry, in one step and even if somebody is reading it.
func (c *Cache) Drop(key string) error {
	if _, err := os.Lstat(c.path(entriesDir, key)); !isKey(key) || errors.Is(err, os.ErrNotExist) {
		return nil
	}
	grave, err := os.MkdirTemp(filepath.Join(c.Dir, buildingDir), droppedPrefix+"*")
	if err != nil {
		return err
	}
	err = os.Rename(c.path(entriesDir, key), filepath.Join(grave, key))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, os.RemoveAll(grave))
}

// Checkpoint is the file in which the training of a key keeps its state.
func (c *Cache) Checkpoint(key string) string { return c.path(checkpointsDir, key) }

// dropCheckpoint removes a key's checkpoint, and what a process that was killed
// while it wrote one has left.
func (c *Cache) dropCheckpoint(key string) { atomicfile.Remove(c.Checkpoint(key)) }
