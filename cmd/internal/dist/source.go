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
	"testing/fstest"

	"mars.dev/mars/arrowio/atomicfile"
)

// source is the archive of the present commit, with the modules that it needs in a folder
// vendor: it is built without a network. It says itself which version it is.
func (d dist) source() (a archive, err error) {
	a = archive{folder: "mars-" + d.version, name: "mars-" + d.version + "-source.tar.gz", time: d.time, files: fstest.MapFS{}}
	text, err := exec.Command("git", "archive", "HEAD").Output()
	if err != nil {
		return a, fmt.Errorf("git archive: %w: the source is archived from a clone", err)
	}
	if err := a.unpack(text); err != nil {
		return a, err
	}
	return a, a.vendor()
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

// unpack adds the files of an archive.
func (a archive) unpack(packed []byte) error {
	for t := tar.NewReader(bytes.NewReader(packed)); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		content, err := io.ReadAll(t)
		if err != nil {
			return err
		}
		switch mode := h.FileInfo().Mode(); {
		case h.Typeflag == tar.TypeSymlink:
			a.put(h.Name, []byte(h.Linkname), link)
		case h.Typeflag == tar.TypeReg && mode&0o100 != 0:
			a.put(h.Name, content, executable)
		case h.Typeflag == tar.TypeReg:
			a.put(h.Name, content, plain)
		}
	}
}

// vendor adds the modules that the program and its tests need.
func (a archive) vendor() error {
	dir, err := os.MkdirTemp("", "mars-dist-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command("go", "mod", "vendor", "-o", filepath.Join(dir, "vendor"))
	if text, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go mod vendor: %w: %s", err, strings.TrimSpace(string(text)))
	}
	vendored := os.DirFS(dir)
	return fs.WalkDir(vendored, "vendor", func(name string, f fs.DirEntry, err error) error {
		if err != nil || f.IsDir() {
			return err
		}
		content, err := fs.ReadFile(vendored, name)
		a.put(name, content, plain)
		return err
	})
}
