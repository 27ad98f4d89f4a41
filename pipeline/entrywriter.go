package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"time"

	"mars.dev/mars/arrowio"
)

// An EntryWriter makes an entry, which nobody sees before Commit.
type EntryWriter struct {
	cache *Cache
	dir   string
	entry Entry
}

// Begin starts the entry of a key, whose lock the caller has. It removes what a
// killed process has left of it.
func (c *Cache) Begin(key string) (*EntryWriter, error) {
	dir := c.path(buildingDir, key)
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := os.Mkdir(dir, privateMode); err != nil {
		return nil, err
	}
	return &EntryWriter{cache: c, dir: dir, entry: Entry{Key: key}}, nil
}

// StatePath is where the stage is to write the file of a flag. The base name is that
// of path, since provenance records it.
func (w *EntryWriter) StatePath(flag, path string) (string, error) {
	dir := filepath.Join(w.dir, flag)
	return filepath.Join(dir, filepath.Base(path)), os.MkdirAll(dir, privateMode)
}

// hashedFile is a file of the entry, hashed as it is written.
type hashedFile struct {
	file *os.File
	hash hash.Hash
	size int64
}

func (w *EntryWriter) create(name string) (*hashedFile, error) {
	f, err := createNew(filepath.Join(w.dir, name))
	return &hashedFile{file: f, hash: sha256.New()}, err
}

func (f *hashedFile) Write(b []byte) (int, error) {
	n, err := f.file.Write(b)
	f.hash.Write(b[:n])
	f.size += int64(n)
	return n, err
}

func (f *hashedFile) close(name string) (EntryFile, error) {
	return EntryFile{Name: name, Size: f.size, SHA256: hex.EncodeToString(f.hash.Sum(nil))}, f.file.Close()
}

// rowsSink writes the entry's rows.
type rowsSink struct {
	*arrowio.Writer
	pending *EntryWriter
	file    *hashedFile
}

// Rows is a sink for the entry's rows. Its Close does not commit the entry.
func (w *EntryWriter) Rows() (arrowio.Sink, error) {
	f, err := w.create(RowsName)
	if err != nil {
		return nil, err
	}
	return &rowsSink{arrowio.NewFileWriter(f, f.file.Name(), arrowio.WriteOptions{}), w, f}, nil
}

func (s *rowsSink) Close() error {
	err := s.Writer.Close()
	file, closing := s.file.close(RowsName)
	if err == nil {
		err = closing
	}
	if err == nil {
		s.pending.entry.Files = append(s.pending.entry.Files, file)
	}
	return err
}

func (s *rowsSink) Fail(cause error) {
	s.Writer.Fail(cause)
	s.file.file.Close()
}

// Text copies r into the entry.
func (w *EntryWriter) Text(r io.Reader) error {
	f, err := w.create(TextName)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	file, closing := f.close(TextName)
	if err == nil {
		err = closing
	}
	w.entry.Files = append(w.entry.Files, file)
	return err
}

// Commit makes the entry visible under its key, whole.
func (w *EntryWriter) Commit(n *Node, version string, rows int64, cost Cost) (*Entry, error) {
	e := &w.entry
	e.Dependencies, e.Version, e.Rows = n.Dependencies, version, rows
	e.Created, e.Cost = time.Now().UTC().Truncate(time.Second), cost
	for _, o := range n.Outputs {
		if !n.Stage.Flags[o.Flag].Role.isWritten() {
			continue
		}
		if err := w.addState(o); err != nil {
			return nil, err
		}
	}
	text, err := json.MarshalIndent(e, "", " ")
	if err != nil {
		return nil, err
	}
	if err := writeNew(filepath.Join(w.dir, manifestName), text); err != nil {
		return nil, err
	}
	origins, err := w.cache.shareOrigins()
	if err != nil {
		return nil, err
	}
	defer origins.Release()
	if err := w.keepOrigins(n.Dependencies, n.before(), version); err != nil {
		return nil, err
	}
	if err := w.cache.Drop(e.Key); err != nil { // a corrupt one that nobody has dropped
		return nil, err
	}
	e.dir = w.cache.path(entriesDir, e.Key)
	return e, os.Rename(w.dir, e.dir)
}

// addState adds a file that the stage itself has written.
func (w *EntryWriter) addState(o Output) error {
	name := filepath.Join(o.Flag, filepath.Base(o.Path))
	for _, f := range w.entry.Files {
		if f.Name == name {
			return nil
		}
	}
	path := filepath.Join(w.dir, name)
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("--%s was not written: %w", o.Flag, err)
	}
	sum, err := hashFile(context.Background(), path) // what a stage saves is small
	w.entry.Files = append(w.entry.Files, EntryFile{Flag: o.Flag, Name: name, Size: info.Size(), SHA256: sum})
	return err
}

// Abandon gives the entry up.
func (w *EntryWriter) Abandon() { os.RemoveAll(w.dir) }
