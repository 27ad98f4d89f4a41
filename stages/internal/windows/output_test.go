package windows

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
)

// The format follows from the name of the file.
func TestFormatOf(t *testing.T) {
	one := ": windows are written one by one, which that format cannot: name it .csv, .tsv, .jsonl, .arrows or .txt"
	for path, want := range map[string]string{"": "text", "-": "text", "a.txt": "text", ".txt": "text", "a.b.txt": "text", "a.csv": "csv", "a.tsv": "tsv", "a.jsonl": "jsonl", "a.arrows": "arrow", "/dev/stderr": "arrow"} {
		if got, err := FormatOf(path); got != want || err != nil {
			t.Errorf("%q: %s, %v, want %s", path, got, err, want)
		}
	}
	for path, want := range map[string]string{
		"a.json": "a.json" + one, "a.parquet": "a.parquet" + one, "a.csv.gz": "a.csv.gz" + one,
		"a.pdf": "a.pdf: a file that ends in .pdf is not written: name it .csv, .tsv, .json, .jsonl, .parquet, .arrow or .arrows; text can be compressed, as in .csv.gz or .csv.zst",
	} {
		if got, err := FormatOf(path); got != "" || err == nil || err.Error() != want {
			t.Errorf("%q: %s, %v\nwant %s", path, got, err, want)
		}
	}
}

// numbers are windows that are a number.
type numbers struct{}

func (numbers) WriteLine(out io.Writer, n int64) error {
	_, err := fmt.Fprintf(out, "window %d\n", n)
	return err
}

func (numbers) Record(n int64) arrow.Record {
	var t arrowio.Table
	t.Add("window", arrowio.NewInt64Array([]int64{n}))
	return t.Record(arrowio.Meta{})
}

func (n numbers) Schema() *arrow.Schema { return n.Record(0).Schema() }

// Windows are written at once, and the head of a table where it is not there.
func TestWriter(t *testing.T) {
	for _, c := range []struct {
		format string
		begun  bool
		want   string
	}{
		{"text", false, "window 1\nwindow 2\n"}, {"csv", false, "window\n1\n2\n"}, {"csv", true, "1\n2\n"}, {"tsv", false, "window\n1\n2\n"}, {"jsonl", false, "{\"window\":1}\n{\"window\":2}\n"},
	} {
		var b bytes.Buffer
		o := NewWriter[int64](numbers{}, &b, "out", c.format, c.begun)
		for n := range int64(2) {
			was := b.Len()
			if err := o.Write(t.Context(), n+1); err != nil || b.Len() == was {
				t.Errorf("%s: %v, %q", c.format, err, b.String())
			}
		}
		if err := o.Close(); err != nil || strings.ReplaceAll(b.String(), " ", "") != strings.ReplaceAll(c.want, " ", "") {
			t.Errorf("%s: %v, %q, want %q", c.format, err, b.String(), c.want)
		}
	}
}

// full is a disk that takes nothing after so many calls.
type full struct{ calls int }

func (f *full) Write(p []byte) (int, error) {
	if f.calls--; f.calls < 0 {
		return 0, io.ErrShortWrite
	}
	return len(p), nil
}

// A disk that is full is an error at once, in whatever format, with the first window, a later one or the end.
func TestFullDisk(t *testing.T) {
	for _, format := range Formats {
		ends := false
		for calls := 0; !ends; calls++ {
			if calls > 50 {
				t.Fatalf("%s: it never fits", format)
			}
			disk := &full{calls}
			o, err := NewWriter[int64](numbers{}, disk, "out", format, false), error(nil)
			for n := int64(0); n < 2 && err == nil; n++ {
				if err = o.Write(t.Context(), n); (err == nil) != (disk.calls >= 0) {
					t.Errorf("%s: window %d after %d calls: %v", format, n, calls, err)
				}
			}
			if err == nil {
				if err = o.Close(); (err == nil) != (disk.calls >= 0) {
					t.Errorf("%s: the end after %d calls: %v", format, calls, err)
				}
			}
			if ends = err == nil; !ends && !errors.Is(err, io.ErrShortWrite) {
				t.Errorf("%s: %v", format, err)
			}
		}
	}
	// An output without windows is one that can be read.
	for calls, want := range []error{io.ErrShortWrite, nil} {
		if err := NewWriter[int64](numbers{}, &full{100 * calls}, "out", "arrow", false).Close(); !errors.Is(err, want) {
			t.Errorf("without windows: %v, want %v", err, want)
		}
	}
	m := Metrics{Prefix: "x_"}
	m.One("a", "An a.", 1)
	if err := m.Write(&full{}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("metrics: %v", err)
	}
}

// The end of the context ends the writing of rows.
func TestWriterStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, format := range []string{"csv", "tsv", "jsonl"} {
		var b bytes.Buffer
		if err := NewWriter[int64](numbers{}, &b, "out", format, false).Write(ctx, 1); !errors.Is(err, context.Canceled) || b.Len() > 0 {
			t.Errorf("%s: %v, %q", format, err, b.String())
		}
	}
}

// A checkpoint is gone on with by what has made it, and by nothing else.
func TestResume(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	made := Checkpoint[int]{Model: "m", Options: map[string]string{"window": "10"}, State: 7, Place: Place{Offset: 3}}
	if found, err := (&Checkpoint[int]{}).Resume(path, "mars watch", ""); found || err != nil {
		t.Errorf("no file: %v, %v", found, err)
	}
	if err := made.Save(path); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		is   Checkpoint[int]
		want string
	}{
		{"the same", Checkpoint[int]{Model: "m", Options: map[string]string{"window": "10"}}, ""},
		{"other options", Checkpoint[int]{Model: "m", Options: map[string]string{"window": "11"}}, ": was made with --window 10, and this is 11: give the same, or remove the checkpoint to begin anew"},
		{"another model", Checkpoint[int]{Model: "n"}, ": is of another model than n: give that, or remove the checkpoint to begin anew"},
	} {
		found, err := c.is.Resume(path, "mars watch", "model than n")
		if c.want == "" && (err != nil || !found || c.is.State != 7 || c.is.Place.Offset != 3) || c.want != "" && (found || err == nil || err.Error() != path+c.want) {
			t.Errorf("%s: %v, %v, %+v\nwant %s", c.name, found, err, c.is, c.want)
		}
	}
	if found, err := (&Checkpoint[string]{}).Resume(path, "mars check", ""); found || err == nil || err.Error() != path+": is a checkpoint of another version of mars, or of another command than mars check: name another file, or remove it to begin anew" {
		t.Errorf("another state: %v, %v", found, err)
	}
	if found, err := (&Checkpoint[int]{}).Resume("a\x00b", "mars watch", ""); found || err == nil {
		t.Errorf("a name that no file can have: %v, %v", found, err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damaged := ": is no checkpoint of mars watch, or is damaged: name another file, or remove it to begin anew"
	for name, c := range map[string]struct{ path, text, want string }{
		"cut":      {path, string(whole[:len(whole)-9]), path + damaged},
		"changed":  {path, strings.Replace(string(whole), ":7", ":8", 1), path + damaged},
		"a folder": {filepath.Dir(path), "", filepath.Dir(path) + ": is no checkpoint of mars watch: name another file"},
	} {
		if c.text != "" {
			if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if found, err := (&Checkpoint[int]{}).Resume(c.path, "mars watch", ""); found || err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, %v\nwant %s", name, found, err, c.want)
		}
	}
}
