package state

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"mars.dev/mars/arrowio"
)

// A table without rows goes around too.
func TestTableWithoutRows(t *testing.T) {
	table := NewTable("test", 0)
	table.AddFloats("x", nil)
	table.add("mean", array.NewSlice(sampleTable().columns[3], 0, 0))
	got, err := load(t, saved(t, table))
	if err != nil || len(got.Floats("x")) != 0 || len(got.Vectors("mean")) != 0 || got.Err() != nil {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := got.Components(); err == nil {
		t.Error("it has components")
	}
}

// A file without its batch has no columns, whether its checksum knows that or not.
func TestTableWithoutBatch(t *testing.T) {
	table := sampleTable()
	if _, err := table.Save(filepath.Join(t.TempDir(), "s.arrow")); err != nil {
		t.Fatal(err)
	}
	write := func() string {
		var keys, values []string
		for key, value := range table.meta {
			keys, values = append(keys, key), append(values, value)
		}
		meta := arrow.NewMetadata(keys, values)
		path := filepath.Join(t.TempDir(), "s.arrow")
		out, err := arrowio.Create(path, arrowio.WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := arrowio.Copy(t.Context(), out, arrowio.NewBatches(path, arrow.NewSchema(table.fields, &meta))); err != nil {
			t.Fatal(err)
		}
		return path
	}
	path := write()
	if _, _, err := LoadTable(path, "test"); err == nil || err.Error() != path+": does not fit its checksum: it was changed or is damaged: save it again" {
		t.Errorf("got %v", err)
	}
	table.columns = nil
	sum, err := table.checksum()
	if err != nil {
		t.Fatal(err)
	}
	table.meta[checksumKey] = sum
	path = write()
	got, _, err := LoadTable(path, "test")
	if err != nil {
		t.Fatal(err)
	}
	if n := got.Ints("n"); n != nil || got.Err() == nil || got.Err().Error() != path+`: column "n" is missing: save it again` {
		t.Errorf("%v, %v", n, got.Err())
	}
}

// What keeps a file from being written or read is the error of whoever does it.
func TestErrorsOfFiles(t *testing.T) {
	nothing := func(io.Reader, string) (int, error) { return 7, nil }
	missing, folder := filepath.Join(t.TempDir(), "missing", "s"), t.TempDir()
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("hello, this is no table of any kind"), 0o600); err != nil {
		t.Fatal(err)
	}
	full := errors.New("the disk is full")
	for name, f := range map[string]func() error{
		"a file that is not there": func() error { _, _, err := Load(missing, nothing); return err },
		"its sum":                  func() error { _, err := sumOf(missing); return err },
		"its table":                func() error { _, _, err := LoadTable(missing, "test"); return err },
		"a table into it":          func() error { _, err := sampleTable().Save(missing); return err },
		"what ends too early":      func() error { _, _, err := Load(folder, nothing); return err },
		"a table of text":          func() error { _, _, err := LoadTable(text, "test"); return err },
		"a reader of text":         func() error { _, err := ReadTable(strings.NewReader("hello"), "text", "test"); return err },
		"another kind":             func() error { _, err := ReadTable(bytes.NewReader(saved(t, sampleTable())), "s", "other"); return err },
		"a full disk":              func() error { _, err := Save(text, func(io.Writer) error { return full }); return err },
	} {
		if err := f(); err == nil || name == "a full disk" && !errors.Is(err, full) {
			t.Errorf("%s: %v", name, err)
		}
	}
	content, err := os.ReadFile(text)
	if err != nil || string(content) != "hello, this is no table of any kind" {
		t.Errorf("the older file is %q, %v", content, err)
	}
}
