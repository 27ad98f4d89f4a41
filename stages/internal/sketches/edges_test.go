package sketches

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mars.dev/mars/arrowio"
)

// Rows at the very end of the sample, and of a class's part of it, count as often as they come, after the others
// have been dropped.
func TestRowsAtTheLimit(t *testing.T) {
	h := Header{Sample: 50, Label: "label", Columns: []Column{{Name: "x", Kind: Number}}}
	for label, want := range map[string]int{"": 50, "a": 100} { // docs/how-to/parts.md says 100
		b := NewBuilder(h, "a")
		for range 2 {
			for i := range 2*h.Sample + 1024 + 1 { // one row more than there is room for
				if err := b.Add("", label, []float32{float32(i)}, nil); err != nil {
					t.Fatal(err)
				}
			}
			if b.limit == nil {
				t.Fatal("nothing was dropped")
			}
		}
		s, err := b.Sketch()
		if err != nil || len(s.Rows) != want {
			t.Fatalf("%d rows of class %q, %v", len(s.Rows), label, err)
		}
		for i, r := range s.Rows {
			if n := r.times(&h); n != 2 {
				t.Errorf("row %d of %d of class %q is there %d times, want 2", i+1, len(s.Rows), label, n)
			}
		}
	}
}

// What cannot be written as JSON, such as an infinite number, is an error of the sketch and its file.
func TestInfiniteNumbers(t *testing.T) {
	b := NewBuilder(Header{Sample: 5, Columns: []Column{{Name: "x", Kind: Number}}}, "a")
	if err := b.Add("", "", []float32{1}, nil); err != nil {
		t.Fatal(err)
	}
	b.classes[""].Moments[0].Most = float32(math.Inf(1))
	if s, err := b.Sketch(); s != nil || err == nil {
		t.Errorf("a sketch: %v", err)
	}
	s := sketchOf(t, header(true), "a", makeRows(9, 1))
	s.Leaves[0].Classes[0].Moments[0].Most = float32(math.Inf(1))
	path := filepath.Join(t.TempDir(), "s.arrow")
	if err := s.Save(path); err == nil {
		t.Error("it is saved")
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("there is a file: %v", err)
	}
}

// The parts that a row is in are known, ascend, and have rows.
func TestParts(t *testing.T) {
	for text, want := range map[string][]share{"0:1": {{0, 1}}, "2:9": {{2, 9}}, "0:1,2:3": {{0, 1}, {2, 3}}, "0:1,1:1,2:1": {{0, 1}, {1, 1}, {2, 1}}} {
		if got, err := parseParts(text, 3); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", ":", "0:", ":1", "0:x", "x:1", "3:1", "-1:1", "0:0", "0:-1", "0:1,0:1", "1:1,0:1", "0:1,", "00:1", "0:01", "+0:1"} {
		if got, err := parseParts(text, 3); err == nil || !strings.Contains(err.Error(), "says of no parts") {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

// A sum in a file is text.
func TestSumsThatAreNoText(t *testing.T) {
	for _, text := range []string{"1", "null x", `{"a": 1}`, `"x"`} {
		if err := json.Unmarshal([]byte(text), &exactly{}); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

// A file is a sketch if it says so; what is no Arrow, or breaks off, is none.
func TestIs(t *testing.T) {
	whole := saved(t, sketchOf(t, header(true), "a", makeRows(9, 1)))
	write := func(content []byte) string {
		path := filepath.Join(t.TempDir(), "s.arrow")
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct {
		path string
		want bool
	}{
		"a sketch": {write(whole), true}, "its head": {write(whole[:20]), false}, "text": {write([]byte("x,y\n")), false}, "nothing": {write(nil), false}, "a folder": {t.TempDir(), false}, "no file": {"none", false},
	} {
		if got := Is(c.path); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	other := filepath.Join(t.TempDir(), "t.arrow")
	var table arrowio.Table
	table.Add("x", arrowio.NewInt64Array([]int64{1}))
	if err := arrowio.Save(other, table.Record(arrowio.Meta{})); err != nil || Is(other) {
		t.Errorf("another table: %v", err)
	}
}

// The smallest and the greatest sample, and no other ones, are read again.
func TestSizesOfSamples(t *testing.T) {
	rows := makeRows(9, 1)
	for size, want := range map[int]bool{0: false, 1: true, MaxSample: true, MaxSample + 1: false} {
		h := header(true)
		h.Sample = size
		_, err := Read(bytes.NewReader(saved(t, sketchOf(t, h, "a", rows))), "s")
		if text := fmt.Sprintf("s: its sample is of %d rows of 4 columns: it is damaged or was changed: make the sketch again", size); want != (err == nil) || err != nil && err.Error() != text {
			t.Errorf("%d: %v", size, err)
		}
	}
	for width, want := range map[int]string{1: "it has no parts", 1 << 24: "it has no parts", 1<<24 + 1: `its column "v" is of no kind`, 0: `its column "v" is of no kind`, -1: `its column "v" is of no kind`} {
		s := &Sketch{Header: Header{Sample: 1, Columns: []Column{{Name: "v", Kind: Vector, Width: width}}}}
		if err := s.check(); err == nil || err.Error() != want {
			t.Errorf("a vector of %d: %v, want %s", width, err, want)
		}
	}
}

// A file whose checksum fits, and whose rows are none of a sketch, is refused, and what is wrong is said.
func TestFilesThatDoNotFit(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		name   string
		change func(s *Sketch)
		want   string
	}{
		{"a row twice", func(s *Sketch) { s.Rows = append(s.Rows[:1], s.Rows...) }, "its sample is in no order"},
		{"another order", func(s *Sketch) { s.Rows[0], s.Rows[1] = s.Rows[1], s.Rows[0] }, "its sample is in no order"},
		{"another key", func(s *Sketch) { s.Rows[1].Key[0]++ }, "the key of row 2 of its sample is not that of the row"},
		{"no row", func(s *Sketch) { s.Rows = nil }, "its sample is of other rows than it says"},
		{"half a vector", func(s *Sketch) { s.Rows[2].Numbers[1] = nan }, `column "v": row 3: element 1 is NaN: fill or drop the row`},
		{"an infinite number", func(s *Sketch) { s.Rows[3].Numbers[0] = float32(math.Inf(1)) }, `column "x": row 4 is +Inf`},
	} {
		s := sketchOf(t, header(true), "a", makeRows(9, 1))
		c.change(s)
		_, err := Read(bytes.NewReader(saved(t, s)), "s")
		if want := "s: " + c.want + ": it is damaged or was changed: make the sketch again"; err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", c.name, err, want)
		}
	}
}

// An error of a merge comes back whenever it is made: with the last sketch, or with one before.
func TestMergerThatFails(t *testing.T) {
	other := header(true)
	other.Seed = 1
	rows, want := makeRows(9, 1), "odd: it was made with --seed 1, and the others with 0: make all with the same"
	folder := t.TempDir()
	for n := 2; n < 2*mergedAtOnce; n++ {
		var m Merger
		var paths []string
		var failed error
		for i := range n {
			h, name := header(true), "even"
			if i == n-1 {
				h, name = other, "odd"
			}
			s := sketchOf(t, h, fmt.Sprint(i), rows)
			if failed = m.Add(s, name); failed != nil && i < n-1 {
				t.Fatalf("%d sketches: %v", i, failed)
			}
			path := filepath.Join(folder, fmt.Sprint(i))
			if err := s.Save(path); err != nil {
				t.Fatal(err)
			}
			paths = append(paths, path)
		}
		if merges := n%(mergedAtOnce-1) == 1; merges != (failed != nil) {
			t.Errorf("sketch %d: %v", n, failed)
		}
		_, err := m.Sketch()
		if err == nil || err.Error() != want || failed != nil && failed.Error() != want {
			t.Errorf("%d sketches: %v, and then %v", n, failed, err)
		}
		if s, err := LoadAll(paths); s != nil || err == nil || err.Error() != paths[n-1]+strings.TrimPrefix(want, "odd") {
			t.Errorf("%d files: %v", n, err)
		}
	}
	if _, err := LoadAll([]string{filepath.Join(folder, "none")}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := LoadAll(nil); err == nil || err.Error() != "there are no sketches to merge" {
		t.Errorf("no files: %v", err)
	}
}
