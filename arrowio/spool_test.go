package arrowio

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// once hides that data can be read again, as a pipe would.
func once(data []byte) io.Reader { return io.MultiReader(bytes.NewReader(data)) }

func TestSpool(t *testing.T) {
	records := []arrow.Record{zooRecord(t), zooRecord(t).NewSlice(1, 4), zooRecord(t)}
	data := write(t, StreamKind, Compression{}, records...)
	for _, c := range []struct {
		name   string
		in     io.Reader
		memory int64
		spills bool
	}{
		{"seekable", bytes.NewReader(data), 0, false},
		{"memory", once(data), 0, false},
		{"half in a file", once(data), int64(len(data) / 2), true},
		{"all in a file", once(data), 1, true},
	} {
		mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
		r, err := NewReader(c.in, "in", ReadOptions{Allocator: mem})
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		t.Setenv("TMPDIR", dir)
		s := NewSpool(r, c.memory)
		for pass := range 4 {
			checkPass(t, s, records, pass == 2) // pass 2 stops early
			if err := s.Rewind(); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s: a temporary file has a name", c.name)
		}
		if (s.file != nil) != c.spills {
			t.Errorf("%s: in a file is %v, want %v", c.name, s.file != nil, c.spills)
		}
		if err := errors.Join(s.Close(), r.Close()); err != nil {
			t.Error(err)
		}
		mem.AssertSize(t, 0)
	}
}

func checkPass(t *testing.T, s Stream, records []arrow.Record, early bool) {
	t.Helper()
	for i, want := range records {
		got, err := s.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !array.RecordEqual(got, want) {
			t.Errorf("batch %d: got %v, want %v", i, got, want)
		}
		if early {
			return
		}
	}
	for range 2 {
		if _, err := s.Next(); err != io.EOF {
			t.Errorf("at the end: %v", err)
		}
	}
}

// A rewind before the first pass has ended reads the rest first.
func TestSpoolRewindEarly(t *testing.T) {
	records := []arrow.Record{sampleRecord(t, 5), sampleRecord(t, 6)}
	r, err := NewReader(once(write(t, StreamKind, Compression{}, records...)), "in", ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := NewSpool(r, 1)
	defer s.Close()
	for range 2 {
		checkPass(t, s, records, true)
		if err := s.Rewind(); err != nil {
			t.Fatal(err)
		}
	}
	checkPass(t, s, records, false)
}

// An input that breaks off breaks every pass.
func TestSpoolOfBrokenInput(t *testing.T) {
	data := write(t, StreamKind, Compression{}, sampleRecord(t, 5), sampleRecord(t, 5))
	r, err := NewReader(once(data[:len(data)-8]), "in", ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := NewSpool(r, 0)
	defer s.Close()
	if _, rows, err := Check(t.Context(), s); rows != 10 || !errors.Is(err, errCut) {
		t.Errorf("%d rows, %v", rows, err)
	}
	if err := s.Rewind(); !errors.Is(err, errCut) {
		t.Errorf("Rewind: %v", err)
	}
	if _, err := s.Next(); !errors.Is(err, errCut) {
		t.Errorf("Next: %v", err)
	}
}
