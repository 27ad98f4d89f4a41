package pipeline

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"
)

// A stamp notices whatever is done to a file or to those of a folder, and nothing else.
func TestStamp(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "sub", "a")
	write := func(path, text string) error { return os.WriteFile(path, []byte(text), 0o666) }
	if err := errors.Join(os.Mkdir(filepath.Dir(path), 0o777), write(path, "text")); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-time.Hour).Truncate(time.Second)
	for what, change := range map[string]func() error{
		"longer":          func() error { return write(path, "texts") },
		"other time":      func() error { return os.Chtimes(path, past, past) },
		"gone":            func() error { return os.Remove(path) },
		"another file":    func() error { return errors.Join(write(path+"b", "text"), os.Rename(path+"b", path)) },
		"a new file":      func() error { return write(filepath.Join(dir, "sub", "b"), "") },
		"time set back":   func() error { return errors.Join(write(path, "TEXT"), os.Chtimes(path, past, past)) },
		"another name":    func() error { return os.Link(path, filepath.Join(t.TempDir(), "b")) },
		"another mode":    func() error { return os.Chmod(path, 0o444) },
		"nothing":         func() error { return nil },
		"read":            func() error { _, err := os.ReadFile(path); return err },
		"beside it a new": func() error { return write(filepath.Join(t.TempDir(), "b"), "") },
	} {
		if err := errors.Join(os.RemoveAll(filepath.Join(dir, "sub")), os.Mkdir(filepath.Dir(path), 0o777), write(path, "text"), os.Chtimes(path, past, past)); err != nil {
			t.Fatal(err)
		}
		file, folder := NewStamp(path), NewStamp(dir)
		time.Sleep(20 * time.Millisecond) // a tick of the file system's clock
		if err := change(); err != nil {
			t.Fatal(err)
		}
		same := slices.Contains([]string{"nothing", "read", "beside it a new", "another name", "another mode"}, what)
		if what == "other time" || what == "time set back" {
			same = runtime.GOOS != "linux"
		}
		if err := folder.Check(); (err == nil) != same {
			t.Errorf("%s: the folder's stamp says %v", what, err)
		}
		if err := file.Check(); (err == nil) != (same || what == "a new file") {
			t.Errorf("%s: the file's stamp says %v", what, err)
		}
	}
}

// What is hashed while it changes is an error.
func TestHashOfChangingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, make([]byte, 64<<20), 0o666); err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan bool), make(chan error)
	go func() {
		for {
			select {
			case <-stop:
				stopped <- nil
				return
			case <-time.After(time.Millisecond):
				if err := os.Chtimes(path, time.Now(), time.Now()); err != nil {
					stopped <- err
					return
				}
			}
		}
	}()
	_, err := (&Machine{}).input(t.Context(), path)
	close(stop)
	if failed := <-stopped; failed != nil {
		t.Fatal(failed)
	}
	if err == nil {
		t.Error("it has a hash")
	}
}
