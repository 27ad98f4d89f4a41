package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func write(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

func checkText(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s holds %q, %v, want %q", path, got, err, want)
	}
}

// checkNames checks which files a folder holds.
func checkNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	var got []string
	for _, f := range files {
		got = append(got, f.Name())
	}
	if err != nil || strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("the folder holds %q, %v, want %q", got, err, want)
	}
}

// The target changes at Commit, at once and whole.
func TestCommit(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	for _, text := range []string{"first", "second"} {
		was, _ := os.ReadFile(path)
		f, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(f, text)
		if now, _ := os.ReadFile(path); string(now) != string(was) {
			t.Errorf("before Commit there is %q", now)
		}
		if err := f.Commit(); err != nil || f.Direct() {
			t.Errorf("Commit: %v, direct %v", err, f.Direct())
		}
		if err := f.Close(); err != nil {
			t.Errorf("Close after Commit: %v", err)
		}
		checkText(t, path, text)
	}
	checkNames(t, dir, "a")
}

// What fails leaves the target as it was, and nothing beside it.
func TestGivenUp(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	put(t, path, "old")
	broken := errors.New("broken")
	err := Write(path, func(w io.Writer) error {
		io.WriteString(w, strings.Repeat("new", bufferSize))
		return broken
	})
	if !errors.Is(err, broken) || err.Error() != path+": broken" {
		t.Errorf("the error is %v", err)
	}
	checkText(t, path, "old")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(f.Name()); err != nil { // as an over-eager cleaner would
		t.Fatal(err)
	}
	var about *fs.PathError
	if err := f.Commit(); !errors.As(err, &about) || about.Path != path {
		t.Errorf("Commit of a file that is gone: %v", err)
	}
	checkText(t, path, "old")
	checkNames(t, dir, "a")
}

// A file that cannot be finished, here since somebody has closed it, does not become the target.
func TestFileThatIsClosed(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "old"), "old")
	for _, name := range []string{"new", "old"} {
		f, err := Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.File.Close(); err != nil {
			t.Fatal(err)
		}
		if err := f.keepMode(); (err != nil) != (name == "old") { // a new file has no mode to keep
			t.Errorf("the mode of the %s file: %v", name, err)
		}
		if err := f.Commit(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("Commit of the %s file: %v", name, err)
		}
	}
	checkText(t, filepath.Join(dir, "old"), "old")
	checkNames(t, dir, "old")
	f, err := Create(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	f.File.Close()
	if err := f.Close(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Close of a device: %v", err)
	}
}

func TestNoFolder(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "file"), "")
	for path, cause := range map[string]string{"none/a": "no such file or directory", "file/a": "not a directory", "": "is a directory"} {
		path = filepath.Join(dir, path)
		want := path + ": " + cause + ": choose a folder that exists and can be written"
		if err := Write(path, write("text")); err == nil || err.Error() != want {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
	checkNames(t, dir, "file")
}

// The name of a file may be as long as the system allows.
func TestLongName(t *testing.T) {
	path := filepath.Join(t.TempDir(), strings.Repeat("ä", 127))
	if err := Write(path, write("text")); err != nil {
		t.Error(err)
	}
	checkText(t, path, "text")
}

// A link stays a link, and its file is written beside itself.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, folder := range []string{"x/y", "z"} {
		if err := os.MkdirAll(in(folder), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	put(t, in("x/old"), "old")
	for name, to := range map[string]string{
		"link": "x/old", "again": "link", "absolute": in("x/old"), "folder": "x/y",
		"x/y/up": "../old", "new": "x/new", "x/y/new": "../also-new", "circle": "circle",
	} {
		if err := os.Symlink(to, in(name)); err != nil {
			t.Skipf("links cannot be made here: %v", err)
		}
	}
	for path, file := range map[string]string{
		"link": "x/old", "again": "x/old", "absolute": "x/old", "folder/up": "x/old", "new": "x/new", "folder/new": "x/also-new",
	} {
		if err := Write(in(path), write(path)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if info, err := os.Lstat(in(path)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s is no link any more: %v", path, err)
		}
		checkText(t, in(file), path)
	}
	if err := Write(in("circle"), write("text")); err == nil {
		t.Error("a circle of links was written")
	}
	checkNames(t, in("x"), "also-new", "new", "old", "y")
}

// old is when a file was written that counts as left behind.
func old() time.Time { return time.Now().Add(-2 * leftAfter) }

// A folder is rid of the temporary files of killed processes, and of no other file.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	const tail = "3w5e11264sgsf"
	elsewhere := filepath.Join(t.TempDir(), ".a.mars-"+tail)
	put(t, elsewhere, "")
	dirName, link, recent, inUse := ".dir.mars-"+tail, ".link.mars-"+tail, ".new.mars-"+tail, ".used.mars-"+tail
	stay := []string{dirName, link, recent, inUse, ".a.mars-", ".a.mars-backup", ".a.mars-1", ".a.mars-" + strings.ToUpper(tail), ".mars", "a.mars-" + tail, ".mars-" + tail, "b"}
	slices.Sort(stay)
	for _, name := range append(stay, ".a.mars-"+tail, ".b.arrow.mars-"+tail) {
		path := filepath.Join(dir, name)
		var err error
		switch name {
		case dirName:
			err = os.Mkdir(path, 0o777)
		case link:
			err = os.Symlink(elsewhere, path)
		default:
			put(t, path, "")
		}
		if err == nil && name != recent {
			err = os.Chtimes(path, old(), old())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	used, err := os.Open(filepath.Join(dir, inUse))
	if err != nil {
		t.Fatal(err)
	}
	defer used.Close()
	lock(used)
	if err := Write(filepath.Join(dir, "b"), write("text")); err != nil {
		t.Error(err)
	}
	checkNames(t, dir, stay...)
	checkText(t, elsewhere, "")
}

// A file that is being written is in use, however long ago its last write was.
func TestSweepSparesFilesInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(f.Name(), old(), old()); err != nil {
		t.Fatal(err)
	}
	sweep(filepath.Dir(path))
	if err := f.Commit(); err != nil {
		t.Error(err)
	}
}

// Remove takes what was left of one file, and of no other.
func TestRemove(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "[a]*")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	const tail = ".mars-0000000000001"
	for _, name := range []string{"a", ".a" + tail, ".a.b" + tail, ".ab" + tail, ".a.mars-1", "b"} {
		put(t, filepath.Join(dir, name), "")
	}
	Remove(filepath.Join(dir, "a"))
	Remove(filepath.Join(dir, "a"))
	checkNames(t, dir, ".a.b"+tail, ".a.mars-1", ".ab"+tail, "b")
}
