package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing/fstest"

	"mars.dev/mars/cmd/internal/cli"
)

// archive is that of a platform: the program, the names that it goes by, the licences of
// what it is made of, and what is common to all.
func (d dist) archive(platform string, common fstest.MapFS) (a archive, err error) {
	system, processor, ok := strings.Cut(platform, "/")
	if !ok {
		return a, fmt.Errorf("want a system and a processor, as in linux/amd64")
	}
	a = archive{folder: "mars-" + d.version + "-" + system + "-" + processor, time: d.time, files: maps.Clone(common)}
	program, err := d.build(system, processor)
	if err != nil {
		return a, err
	}
	if err := a.putLicences(platform); err != nil {
		return a, err
	}
	if system == "windows" { // which has no links that everybody may make, and no man
		a.name = a.folder + ".zip"
		script, err := cli.Completion("powershell")
		a.put("mars.exe", program, executable)
		a.put("mars.ps1", script, plain)
		return a, err
	}
	a.name = a.folder + ".tar.gz"
	a.put("bin/mars", program, executable)
	for _, name := range cli.Programs() {
		a.put("bin/"+name, []byte("mars"), link)
	}
	share, err := cli.Share()
	for name, content := range share {
		a.put("share/"+name, content, plain)
	}
	return a, err
}

// putLicences adds those of what a program for the platform is made of.
func (a archive) putLicences(platform string) error {
	text, err := noticesOf(platform)
	a.put("THIRD-PARTY-LICENSES", text, plain)
	return err
}

// page is the archive of the page that labels in a browser.
func (d dist) page() (a archive, err error) {
	folder, err := os.MkdirTemp("", "mars-dist-")
	if err != nil {
		return a, err
	}
	defer os.RemoveAll(folder)
	cmd := exec.Command("go", "run", "-trimpath", "-ldflags", d.ldflags, "./cmd/internal/web", "-o", folder, "-ldflags", d.ldflags)
	cmd.Env, cmd.Stderr = append(os.Environ(), "GOFLAGS="), os.Stderr
	if err := cmd.Run(); err != nil {
		return a, fmt.Errorf("go run: %w", err)
	}
	a = archive{folder: "mars-" + d.version + "-web", time: d.time, files: fstest.MapFS{}}
	a.name = a.folder + ".zip"
	if err := a.putLicences("js/wasm"); err != nil {
		return a, err
	}
	for _, path := range []string{"LICENSE", filepath.Join(folder, "index.html")} {
		content, err := os.ReadFile(path)
		if err != nil {
			return a, err
		}
		a.put(filepath.Base(path), content, plain)
	}
	return a, nil
}

// build is the program for a platform, whatever this machine's settings are.
func (d dist) build(system, processor string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "mars-dist-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "mars")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", d.ldflags, "-o", out, "./cmd/mars")
	cmd.Env = append(environment(system, processor), "GOEXPERIMENT=", "GOAMD64=v1", "GOARM64=v8.0")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go build: %w", err)
	}
	return os.ReadFile(out)
}

// environment has Go work for a platform, without C and, on arm64, without assembly: that of Arrow
// overwrites the frame pointer of its caller there, which ends a program that is profiled or
// traced (https://github.com/apache/arrow-go/pull/170).
func environment(system, processor string) []string {
	flags := ""
	if processor == "arm64" {
		flags = "-tags=noasm"
	}
	return append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor, "GOFLAGS="+flags)
}

// common are the files that every archive has: what one reads first, all pages that
// these and the help name, and the programs that these link.
func (d dist) common() (fstest.MapFS, error) {
	a := archive{files: fstest.MapFS{}}
	add := func(path string) error {
		content, err := os.ReadFile(path)
		a.put(filepath.ToSlash(path), bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n")), plain)
		return err
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		if err := add(name); err != nil {
			return nil, err
		}
	}
	return a.files, filepath.WalkDir("docs", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && (strings.HasSuffix(path, ".md") || strings.HasSuffix(path, ".py")) {
			err = add(path)
		}
		return err
	})
}
