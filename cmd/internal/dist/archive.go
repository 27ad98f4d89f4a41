package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"testing/fstest"
	"time"
)

// An archive has all of its files in one folder.
type archive struct {
	name   string // of its file, which says of what kind it is
	folder string
	time   time.Time
	files  fstest.MapFS
}

// The modes of files and of links in archives.
const (
	plain      = fs.FileMode(0o644)
	executable = fs.FileMode(0o755)
	link       = fs.ModeSymlink | 0o777 // whose content is what it leads to
)

// put adds a file.
func (a archive) put(name string, content []byte, mode fs.FileMode) {
	a.files[name] = &fstest.MapFile{Data: content, Mode: mode}
}

// write writes the archive: its files in the order of their names, all of one time and of
// nobody's.
func (a archive) write(w io.Writer) error {
	if strings.HasSuffix(a.name, ".zip") {
		z := zip.NewWriter(w)
		return errors.Join(z.AddFS(a.inFolder()), z.Close())
	}
	packed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(packed)
	return errors.Join(t.AddFS(a.inFolder()), t.Close(), packed.Close())
}

// inFolder are the files, with all folders that they are in.
func (a archive) inFolder() fstest.MapFS {
	all := fstest.MapFS{}
	for name, f := range a.files {
		name = path.Join(a.folder, name)
		all[name] = &fstest.MapFile{Data: f.Data, Mode: f.Mode, ModTime: a.time}
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			all[dir] = &fstest.MapFile{Mode: fs.ModeDir | executable, ModTime: a.time}
		}
	}
	return all
}
