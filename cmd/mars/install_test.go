package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mars.dev/mars/cmd/internal/cli"
)

// The folders in cmd, which go install builds, are the names that mars goes by.
func TestPrograms(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join("..", "mars-*"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, folder := range folders {
		names = append(names, filepath.Base(folder))
	}
	want := cli.Programs()
	slices.Sort(want)
	if !slices.Equal(names, want) {
		t.Errorf("cmd has %v, and mars is %v", names, want)
	}
	for name, want := range map[string]string{"/opt/bin/mars-train": "mars-train", "mars-eval.exe": "mars-eval", "mars.exe": "mars", "mars-0.1.0": "mars", "": "mars"} {
		if got := cli.Program(name).Name(); got != want {
			t.Errorf("%q is %s, want %s", name, got, want)
		}
	}
}

// make install installs one file, links to it, completions and pages of the manual, which man
// finds, and make uninstall takes all of it away.
func TestMakeInstall(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("there is no make")
	}
	root, bin := t.TempDir(), programs(t)
	run := func(target string) {
		t.Helper()
		cmd := exec.Command("make", "-C", filepath.Join("..", ".."), target, "BIN="+bin, "DESTDIR="+root, "PREFIX=/usr")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	run("install")
	files := 0
	for _, name := range append(cli.Programs(), "mars") {
		program := filepath.Join(root, "usr", "bin", name)
		if info, err := os.Lstat(program); err != nil {
			t.Error(err)
		} else if info.Mode().IsRegular() {
			files++
		}
		out, err := exec.Command(program, "--version").Output()
		if first, _, _ := strings.Cut(string(out), " "); err != nil || first != name || strings.Count(string(out), "\n") != 2 {
			t.Errorf("%s --version prints %q, error %v", name, out, err)
		}
		for _, script := range []string{"bash-completion/completions/" + name, "zsh/site-functions/_" + name, "fish/vendor_completions.d/" + name + ".fish"} {
			text, err := os.ReadFile(filepath.Join(root, "usr", "share", filepath.FromSlash(script)))
			if err != nil || !strings.Contains(string(text), name) {
				t.Errorf("%s is of no use: %v", script, err)
			}
		}
	}
	if files != 1 {
		t.Errorf("%d files are installed, want 1 with links", files)
	}
	manual := filepath.Join(root, "usr", "share", "man")
	for _, name := range append(cli.Programs(), "mars", "mars-run", "mars-featurize-toy") {
		if info, err := os.Stat(filepath.Join(manual, "man1", name+".1")); err != nil || info.Size() == 0 {
			t.Errorf("%s has no page of the manual: %v", name, err)
		}
	}
	if _, err := exec.LookPath("man"); err == nil {
		cmd := exec.Command("man", "-M", manual, "mars-label")
		cmd.Env = append(os.Environ(), "MANPAGER=cat", "MANWIDTH=80")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "MARS-LABEL(1)") {
			t.Errorf("man mars-label prints %.200s, error %v", out, err)
		}
	}
	run("uninstall")
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			t.Errorf("%s is left, error %v", path, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
