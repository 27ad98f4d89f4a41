//go:build unix

package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func checkMode(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
		t.Errorf("the mode is %v, %v, want %v", info.Mode().Perm(), err, want)
	}
}

// A new file has the mode that the umask allows, a replaced one keeps its own.
func TestMode(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	for mask, want := range map[int]fs.FileMode{0o022: 0o644, 0o077: 0o600, 0o002: 0o664} {
		syscall.Umask(mask)
		path := filepath.Join(t.TempDir(), "a")
		if err := Write(path, write("new")); err != nil {
			t.Fatal(err)
		}
		checkMode(t, path, want)
		for _, mode := range []fs.FileMode{0o600, 0o666, 0o444, 0o755} {
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
			f, err := Create(path)
			if err != nil {
				t.Fatal(err)
			}
			if info, err := f.Stat(); err != nil || info.Mode().Perm()&^mode != 0 {
				t.Errorf("before Commit the mode is %v, %v, of a file of %v", info.Mode(), err, mode)
			}
			if err := f.Commit(); err != nil {
				t.Error(err)
			}
			checkMode(t, path, mode)
		}
	}
}

func TestReadOnlyFolder(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root writes into every folder")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	put(t, path, "old")
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o755)
	if err := Write(path, write("new")); !errors.Is(err, fs.ErrPermission) || !strings.HasPrefix(err.Error(), path+": permission denied: ") {
		t.Errorf("the error is %v", err)
	}
	checkText(t, path, "old")
}

// Devices and pipes are written, not replaced.
func TestDirect(t *testing.T) {
	if err := Write(os.DevNull, write("text")); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Fatalf("%s was replaced: %v, %v", os.DevNull, info, err)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Skipf("a pipe cannot be made here: %v", err)
	}
	read := make(chan string)
	go func() {
		text, _ := os.ReadFile(path)
		read <- string(text)
	}()
	f, err := Create(path)
	if err != nil || !f.Direct() {
		t.Fatalf("direct is %v, %v", f.Direct(), err)
	}
	io.WriteString(f, "text")
	if err := f.Commit(); err != nil {
		t.Error(err)
	}
	if got := <-read; got != "text" {
		t.Errorf("the pipe gave %q", got)
	}
	checkNames(t, dir, "pipe")
}

// With this variable set the test's program writes the file that it names, and
// breaks down as the test says.
const variable = "ATOMICFILE_TEST"

func TestMain(m *testing.M) {
	path, how, asked := strings.Cut(os.Getenv(variable), "|")
	if !asked {
		os.Exit(m.Run())
	}
	err := Write(path, func(w io.Writer) error {
		if _, err := w.Write(make([]byte, 2*bufferSize)); err != nil || how != "killed" {
			return err
		}
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	})
	if err != nil {
		os.Stderr.WriteString(err.Error())
		os.Exit(1)
	}
	os.Exit(0)
}

// broken has a process break down while it writes path.
func broken(path, how, shell string) string {
	cmd := exec.Command("sh", "-c", shell, os.Args[0])
	cmd.Env = append(os.Environ(), variable+"="+path+"|"+how)
	said, err := cmd.CombinedOutput()
	if err == nil {
		return "no error"
	}
	return string(said)
}

// A disk without room, here a limit on the size of files, leaves no trace.
func TestNoRoom(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	put(t, path, "old")
	if said := broken(path, "full", `ulimit -f 100; exec "$0"`); said != path+": file too large" {
		t.Errorf("the error is %s", said)
	}
	checkText(t, path, "old")
	checkNames(t, dir, "a")
}

// A process that is killed leaves the target, and a file that is swept later.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a")
	put(t, path, "old")
	broken(path, "killed", `exec "$0"`)
	checkText(t, path, "old")
	left, _ := filepath.Glob(filepath.Join(dir, ".a"+infix+"*"))
	if len(left) != 1 || !temporaryName.MatchString(filepath.Base(left[0])) {
		t.Fatalf("%q was left", left)
	}
	sweep(dir)
	if _, err := os.Stat(left[0]); err != nil {
		t.Errorf("a fresh file was swept: %v", err)
	}
	if err := os.Chtimes(left[0], old(), old()); err != nil {
		t.Fatal(err)
	}
	sweep(dir)
	checkNames(t, dir, "a")
}
