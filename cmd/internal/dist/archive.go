package main

import (
	"archive/tar"
	"archive/zip"
	"cmp"
	"compress/gzip"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// An entry is a file of an archive, or a link.
type entry struct {
	name       string
	executable bool
	content    []byte
	link       string // what it leads to
}

func (e entry) mode() fs.FileMode {
	if e.executable {
		return 0o755
	}
	return 0o644
}

// An archive has all of its entries in one folder.
type archive struct {
	name    string // of its file, which says of what kind it is
	folder  string
	time    time.Time
	entries []entry
}

// write writes the archive: its entries in the order of their names, all of one time and
// of nobody's.
func (a archive) write(w io.Writer) error {
	entries := slices.Clone(a.entries)
	slices.SortFunc(entries, func(x, y entry) int { return cmp.Compare(x.name, y.name) })
	if strings.HasSuffix(a.name, ".zip") {
		return a.zip(w, entries)
	}
	packed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := a.tar(packed, entries); err != nil {
		return err
	}
	return packed.Close()
}

func (a archive) tar(w io.Writer, entries []entry) error {
	t := tar.NewWriter(w)
	for _, folder := range folders(a.folder, entries) {
		if err := t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: folder + "/", Mode: 0o755, ModTime: a.time}); err != nil {
			return err
		}
	}
	for _, e := range entries {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: path.Join(a.folder, e.name), Mode: int64(e.mode()), Size: int64(len(e.content)), ModTime: a.time}
		if e.link != "" {
			h.Typeflag, h.Linkname, h.Mode = tar.TypeSymlink, e.link, 0o777
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(e.content); err != nil {
			return err
		}
	}
	return t.Close()
}

// folders are the folders of entries, each after the one that it is in.
func folders(root string, entries []entry) []string {
	all := map[string]bool{root: true}
	for _, e := range entries {
		for dir := path.Dir(e.name); dir != "."; dir = path.Dir(dir) {
			all[path.Join(root, dir)] = true
		}
	}
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (a archive) zip(w io.Writer, entries []entry) error {
	z := zip.NewWriter(w)
	for _, e := range entries {
		h := &zip.FileHeader{Name: path.Join(a.folder, e.name), Method: zip.Deflate, Modified: a.time}
		h.SetMode(e.mode())
		f, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := f.Write(e.content); err != nil {
			return err
		}
	}
	return z.Close()
}
