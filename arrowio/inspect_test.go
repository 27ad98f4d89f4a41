package arrowio

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
)

func newReader(t *testing.T, data []byte) *Reader {
	t.Helper()
	r, err := NewReader(bytes.NewReader(data), "in", ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func TestInspect(t *testing.T) {
	s, err := Inspect(t.Context(), newReader(t, write(t, FileKind, Compression{}, sampleRecord(t, 6), sampleRecord(t, 4))), 2)
	if err != nil {
		t.Fatal(err)
	}
	if s.Kind != "Arrow file" || s.Batches != 2 || s.Rows != 10 || s.Metadata["mars.classes"] != `["a","b","c"]` {
		t.Errorf("got %+v", s)
	}
	label, domain, features := s.Columns[2], s.Columns[1], s.Columns[3]
	if label.Nulls != 5 || *label.Min != 0 || *label.Max != 2 || *label.Mean != 1 {
		t.Errorf("label: %+v", label)
	}
	if domain.Values["source"] != 5 || domain.Values["target"] != 5 {
		t.Errorf("domain: %+v", domain)
	}
	if features.Numbers != 30 || *features.Max != 5 || features.Nulls != 0 || features.NaN != 0 {
		t.Errorf("features: %+v", features)
	}
	if len(s.Head) != 2 || strings.Join(s.Head[1], "|") != "1|target|null|[1, 0, 0]" {
		t.Errorf("head: %v", s.Head)
	}
	if _, err := json.Marshal(s); err != nil {
		t.Error(err)
	}
}

func TestInspectZoo(t *testing.T) {
	s, err := Inspect(t.Context(), newReader(t, write(t, StreamKind, Compression{}, zooRecord(t))), 10)
	if err != nil {
		t.Fatal(err)
	}
	row := s.Head[3]
	for i, want := range map[int]string{0: "null", 1: "true", 13: "dée", 16: "[3, null]", 20: "{x: 4, y: null}", 22: "y", 23: "y", 24: "a", 26: "b"} {
		if row[i] != want {
			t.Errorf("%s: row 3 is %q, want %q", s.Columns[i].Type, row[i], want)
		}
	}
}

func TestInspectBroken(t *testing.T) {
	data := write(t, StreamKind, Compression{}, sampleRecord(t, 6), sampleRecord(t, 4))
	s, err := Inspect(t.Context(), newReader(t, data[:len(data)-8]), 0)
	if !errors.Is(err, errCut) || s.Rows != 10 {
		t.Errorf("%+v, %v", s, err)
	}
	if batches, rows, err := Check(t.Context(), newReader(t, data[:len(data)-20])); !errors.Is(err, errCut) || batches != 1 || rows != 6 {
		t.Errorf("%d batches, %d rows, %v", batches, rows, err)
	}
}

// Binary is not written to a terminal, unless that is insisted on.
func TestTerminalIsRefused(t *testing.T) {
	tty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no terminal to be had: ", err)
	}
	defer tty.Close()
	stdout := os.Stdout
	os.Stdout = tty
	defer func() { os.Stdout = stdout }()
	if _, err := Create("-", WriteOptions{}); err == nil || !strings.Contains(err.Error(), "--force") {
		t.Errorf("got %v", err)
	}
	if _, err := Create("-", WriteOptions{Force: true}); err != nil {
		t.Errorf("with force: %v", err)
	}
}
