package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// Two builds of the archive of this platform are the same bytes, whatever the environment.
// It holds what it should, and the program in it says which version it is.
func TestArchiveIsReproducible(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", ".."))
	d := dist{version: "1.2.3", ldflags: "-s -w -X mars.dev/mars/cmd/internal/cli.version=v1.2.3", time: time.Unix(1_000_000_000, 0).UTC()}
	platform := runtime.GOOS + "/" + runtime.GOARCH
	var files [2][]byte
	for i := range files {
		d.folder = t.TempDir()
		if err := d.make(platform, false); err != nil {
			t.Fatal(err)
		}
		sums, err := os.ReadFile(filepath.Join(d.folder, "SHA256SUMS"))
		if err != nil {
			t.Fatal(err)
		}
		sum, name, _ := strings.Cut(strings.TrimSpace(string(sums)), "  ")
		if files[i], err = os.ReadFile(filepath.Join(d.folder, name)); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(files[i])); got != sum {
			t.Errorf("SHA256SUMS says %s of %s, which is %s", sum, name, got)
		}
		t.Setenv("TMPDIR", t.TempDir())
		t.Setenv("GOAMD64", "v3")
		t.Setenv("GOFLAGS", "-tags=noasm")
		t.Setenv("TZ", "Asia/Tokyo")
		t.Setenv("GOMAXPROCS", "1")
	}
	if !bytes.Equal(files[0], files[1]) {
		t.Error("two builds differ")
	}
	if runtime.GOOS != "windows" {
		checkArchive(t, files[0], "mars-1.2.3-"+runtime.GOOS+"-"+runtime.GOARCH)
	}
}

// checkArchive unpacks an archive, runs its program under its names, and looks for the
// licence of each module in it.
func checkArchive(t *testing.T, packed []byte, folder string) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("tar", "-xz", "-C", dir)
	cmd.Stdin = bytes.NewReader(packed)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("tar: %v\n%s", err, out)
	}
	dir = filepath.Join(dir, folder)
	for _, name := range []string{"mars", "mars-label"} {
		out, err := exec.Command(filepath.Join(dir, "bin", name), "--version").Output()
		if err != nil || !strings.HasPrefix(string(out), name+" v1.2.3\n") {
			t.Errorf("%s --version prints %s, error %v", name, out, err)
		}
	}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", "docs/default.md", "share/man/man1/mars-label.1",
		"share/bash-completion/completions/mars-label", "share/zsh/site-functions/_mars", "share/fish/vendor_completions.d/mars.fish"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 || info.ModTime().Unix() != 1_000_000_000 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	info, err := buildinfo.ReadFile(filepath.Join(dir, "bin", "mars"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "THIRD-PARTY-LICENSES"))
	if err != nil || len(info.Deps) < 10 {
		t.Fatal(len(info.Deps), err)
	}
	for _, module := range info.Deps {
		if !strings.Contains(string(text), "\n"+module.Path+" "+module.Version+": ") {
			t.Errorf("THIRD-PARTY-LICENSES has not that of %s", module.Path)
		}
	}
}

// Programs for arm64 have none of the assembly that overwrites frame pointers, and others have
// all.
func TestAssembly(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", ".."))
	for platform, want := range map[string]bool{"linux/arm64": false, "darwin/arm64": false, "linux/amd64": true} {
		system, processor, _ := strings.Cut(platform, "/")
		list := exec.Command("go", "list", "-f", "{{.GoFiles}}", "github.com/apache/arrow/go/v15/arrow/memory")
		list.Env = environment(system, processor)
		out, err := list.Output()
		if err != nil {
			t.Fatal(err)
		}
		if has := strings.Contains(string(out), "memory_neon_") || strings.Contains(string(out), "memory_avx2_"); has != want {
			t.Errorf("%s: assembly %v, want %v: %s", platform, has, want, out)
		}
	}
}

// What an archive holds comes in order, with the modes of files, and of one time.
func TestWriteArchive(t *testing.T) {
	a := archive{folder: "a", time: time.Unix(1_000_000_000, 0).UTC(), files: fstest.MapFS{}}
	a.put("z", []byte("text"), plain)
	a.put("b/d", []byte("c"), link)
	a.put("b/c", nil, executable)
	var got []string
	var packed bytes.Buffer
	a.name = "a.tar.gz"
	if err := a.write(&packed); err != nil {
		t.Fatal(err)
	}
	unzipped, err := gzip.NewReader(&packed)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %o %s%d %d", h.Name, h.Mode, h.Linkname, h.Size, h.ModTime.Unix()))
	}
	want := "a/ 755 0 1000000000\na/b/ 755 0 1000000000\na/b/c 755 0 1000000000\na/b/d 777 c0 1000000000\na/z 644 4 1000000000"
	if got := strings.Join(got, "\n"); got != want {
		t.Errorf("the archive is\n%s\nwant\n%s", got, want)
	}

	a.name, a.files = "a.zip", fstest.MapFS{"z": a.files["z"]}
	packed.Reset()
	if err := a.write(&packed); err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(packed.Bytes()), int64(packed.Len()))
	if err != nil || len(z.File) != 2 || z.File[1].Name != "a/z" || z.File[1].Mode() != 0o644 || !z.File[1].Modified.Equal(a.time) {
		t.Errorf("the archive is %+v, error %v", z, err)
	}
}

// The source comes with all modules that it and its tests need, which go.mod lists.
func TestSource(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", ".."))
	if _, err := os.Stat(".git"); err != nil {
		t.Skip("this is no clone: the archive of the source is not made")
	}
	a, err := dist{version: "1.2.3"}.source()
	if err != nil {
		t.Fatal(err)
	}
	for name, mode := range map[string]fs.FileMode{"go.mod": plain, ".ci/run": executable, "vendor/modules.txt": plain, "vendor/github.com/apache/arrow/go/v15/LICENSE.txt": plain} {
		if f := a.files[name]; f == nil || f.Mode != mode || len(f.Data) == 0 {
			t.Errorf("%s is %+v", name, f)
		}
	}
}

// Licences are found beside a package and above it, in a README too; a module without one
// is an error.
func TestNotices(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	put("LICENSE", "above all modules")
	put("one/LICENSE", "first licence")
	put("one/README.md", "Permission is hereby granted to read")
	put("one/sub/pkg/NOTICE.txt", "second licence")
	put("one/other/COPYING", "of what is not linked")
	put("one/sub/licence.go", "package sub")
	put("two/README.md", "MIT. Permission is hereby granted")
	put("none/README.md", "A package")
	of := func(module, path string) (p linked) {
		p.ImportPath, p.Dir = "example.com/"+path, filepath.Join(dir, filepath.FromSlash(path))
		p.Module = &struct {
			Path, Version string
			Main          bool
		}{Path: "example.com/" + module, Version: "v1.0.0"}
		return p
	}
	text, err := notices([]linked{of("one", "one/sub/pkg"), of("two", "two")})
	if err != nil {
		t.Fatal(err)
	}
	for want, there := range map[string]bool{"first licence": true, "second licence": true, "MIT. Permission": true, "Go ": true,
		"above all": false, "not linked": false, "package sub": false, "granted to read": false} {
		if strings.Contains(string(text), want) != there {
			t.Errorf("%q is there: %v, want %v:\n%s", want, !there, there, text)
		}
	}
	if _, err := notices([]linked{of("none", "none")}); err == nil || !strings.Contains(err.Error(), "example.com/none v1.0.0 has no licence") {
		t.Errorf("a module without a licence is %v", err)
	}
}

// The formula names the archive and its checksum.
func TestFormula(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", ".."))
	d := dist{version: "1.2.3", folder: t.TempDir()}
	if err := d.formula("0123abcd"); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(d.folder, "mars.rb")
	text, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(text), "/mars-1.2.3-source.tar.gz\"") || !strings.Contains(string(text), "sha256 \"0123abcd\"") {
		t.Errorf("%v\n%s", err, text)
	}
	if _, err := exec.LookPath("ruby"); err != nil {
		t.Skip("ruby is not installed: the syntax of the formula is not checked")
	}
	if out, err := exec.Command("ruby", "-c", path).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestCommitTime(t *testing.T) {
	for _, c := range []struct{ epoch, date, want string }{
		{"86400", "2026-11-22T10:00:00Z", "1970-01-02T00:00:00Z"},
		{"", "2026-11-22T10:00:00+02:00", "2026-11-22T08:00:00Z"},
		{"", "", "set SOURCE_DATE_EPOCH"},
		{"soon", "", "SOURCE_DATE_EPOCH=soon: want a number of seconds"},
	} {
		at, err := commitTime(c.epoch, c.date)
		if got := fmt.Sprint(at.Format(time.RFC3339), err); !strings.Contains(got, c.want) {
			t.Errorf("%q and %q make %s, want %s", c.epoch, c.date, got, c.want)
		}
	}
}
