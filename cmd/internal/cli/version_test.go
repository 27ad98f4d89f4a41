package cli

import (
	"archive/tar"
	"bytes"
	"io"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A build says where it is from: the commit and its day are left out where they are not known.
func TestVersionText(t *testing.T) {
	const rest = "\ngo1.26.0 linux/amd64, kernels: avx2, threads: 2\n"
	b := build{Version: "v1.2.3", Go: "go1.26.0", Platform: "linux/amd64", Kernels: "avx2", Threads: 2}
	for _, c := range []struct{ commit, date, want string }{
		{"", "", "v1.2.3"},
		{"", "2026-11-22T10:00:00+00:00", "v1.2.3"},
		{"0123456789abcdef", "", "v1.2.3 (commit 0123456789ab)"},
		{"0123456789abcdef", "2026-11-22T10:00:00+00:00", "v1.2.3 (commit 0123456789ab of 2026-11-22)"},
	} {
		b.Commit, b.Date = c.commit, c.date
		if got := b.String(); got != c.want+rest {
			t.Errorf("%q, want %q", got, c.want+rest)
		}
	}
}

// What git archive puts into origin.txt is found, and what it leaves there is not.
func TestOrigin(t *testing.T) {
	const archive = "version: v1.2.3\ncommit: 0123\ndate: 2026-11-22T10:00:00+00:00\n"
	for name, want := range map[string]string{"version": "v1.2.3", "commit": "0123", "date": "2026-11-22T10:00:00+00:00", "other": ""} {
		if got := fromOrigin(archive, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := fromOrigin("version: \ncommit: 0123\n", "version"); got != "" {
		t.Errorf("the version of a repository without tags is %q", got)
	}
	if got := fromOrigin("version: $Format:%H$\n", "version"); got != "" {
		t.Errorf("the version of a clone is %q", got)
	}
}

// git archive puts in which commit it is of.
func TestOriginOfArchive(t *testing.T) {
	head, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil {
		t.Skip("this is no clone, or there is no git: what git archive writes is not looked at")
	}
	packed, err := exec.Command("git", "archive", "HEAD", "origin.txt").Output()
	if err != nil {
		t.Fatal(err)
	}
	files := tar.NewReader(bytes.NewReader(packed))
	var text []byte
	for h := (&tar.Header{}); err == nil && h.Name != "origin.txt"; {
		h, err = files.Next()
	}
	if err == nil {
		text, err = io.ReadAll(files)
	}
	if got := fromOrigin(string(text), "commit"); err != nil || got != strings.TrimSpace(string(head)) {
		t.Errorf("the archive's commit is %q, want %s; error %v", got, head, err)
	}
	if _, err := time.Parse(time.RFC3339, fromOrigin(string(text), "date")); err != nil {
		t.Error(err)
	}
	if got := fromOrigin(string(text), "version"); strings.Contains(got, "$") || strings.Contains(got, "%") {
		t.Errorf("the archive's version is %q", got)
	}
}
