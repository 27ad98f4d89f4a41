package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"mars.dev/mars/arrowio/atomicfile"
)

// source is the archive of the present commit, with the modules that it needs in a folder
// vendor: it is built without a network. It says itself which version it is.
func (d dist) source() (a archive, err error) {
	a = archive{folder: "mars-" + d.version, name: "mars-" + d.version + "-source.tar.gz", time: d.time}
	text, err := exec.Command("git", "archive", "HEAD").Output()
	if err != nil {
		return a, fmt.Errorf("git archive: %w: the source is archived from a clone", err)
	}
	if a.entries, err = unpacked(text); err != nil {
		return a, err
	}
	vendored, err := d.vendored()
	a.entries = append(a.entries, vendored...)
	return a, err
}

// formula writes Homebrew's formula for the archive of the source, which has that checksum.
func (d dist) formula(sum string) error {
	const name = "mars.rb"
	text, err := os.ReadFile(filepath.Join("packaging", "homebrew", name))
	if err != nil {
		return err
	}
	_, text, _ = bytes.Cut(text, []byte("\n")) // which says that this is done
	filled := strings.NewReplacer("VERSION", d.version, "SHA256", sum).Replace(string(text))
	return atomicfile.WriteFile(filepath.Join(d.folder, name), []byte(filled))
}

// unpacked are the files of an archive.
func unpacked(archive []byte) (entries []entry, err error) {
	for t := tar.NewReader(bytes.NewReader(archive)); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return entries, nil
		} else if err != nil {
			return nil, err
		}
		e := entry{name: h.Name, executable: h.Mode&0o100 != 0, link: h.Linkname}
		if e.content, err = io.ReadAll(t); err != nil {
			return nil, err
		}
		if h.Typeflag == tar.TypeReg || h.Typeflag == tar.TypeSymlink {
			entries = append(entries, e)
		}
	}
}

// vendored are the modules that the program and its tests need.
func (d dist) vendored() (entries []entry, err error) {
	dir, err := os.MkdirTemp("", "mars-dist-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command("go", "mod", "vendor", "-o", filepath.Join(dir, "vendor"))
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go mod vendor: %w: %s", err, strings.TrimSpace(string(text)))
	}
	return entries, filepath.WalkDir(filepath.Join(dir, "vendor"), func(path string, f fs.DirEntry, err error) error {
		if err != nil || f.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		entries = append(entries, entry{name: filepath.ToSlash(name), content: content})
		return err
	})
}
