package arrowio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// recordOf is n rows of columns of these types, which hold JSON values of the row.
func recordOf(t *testing.T, n int, value func(row int) string, kinds ...arrow.DataType) arrow.Record {
	t.Helper()
	var fields []arrow.Field
	for k, kind := range kinds {
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", k), Type: kind, Nullable: true})
	}
	var rows strings.Builder
	for i := range n {
		for k, kind := range kinds {
			v := value(i)
			if kind.ID() == arrow.FIXED_SIZE_LIST {
				v = "[" + v + "," + v + ",7]"
			}
			fmt.Fprintf(&rows, "%c\"c%d\":%s", ",{"[b2i(k == 0)], k, v)
		}
		rows.WriteString("}\n")
	}
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, arrow.NewSchema(fields, nil), strings.NewReader("["+strings.ReplaceAll(strings.TrimSpace(rows.String()), "\n", ",")+"]"))
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A large batch comes in slices that are the batch, if its columns can be cut, and as it is if
// not.
func TestSlices(t *testing.T) {
	number := func(row int) string { return fmt.Sprint(row % 100) }
	holes := func(row int) string {
		if row == 7 {
			return "null"
		}
		return number(row)
	}
	list := arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Int16)
	for _, c := range []struct {
		name   string
		rows   int
		value  func(int) string
		kinds  []arrow.DataType
		slices bool
	}{
		{"numbers", 1001, number, []arrow.DataType{arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Float64}, true},
		{"lists", 500, number, []arrow.DataType{list, arrow.PrimitiveTypes.Int64}, true},
		{"no rows", 0, number, []arrow.DataType{arrow.PrimitiveTypes.Int64}, false},
		{"few rows", 3, number, []arrow.DataType{arrow.PrimitiveTypes.Int64}, false},
		{"nulls", 1001, holes, []arrow.DataType{arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64}, false},
		{"nulls in lists", 1001, holes, []arrow.DataType{list}, false},
		{"texts", 1001, func(int) string { return `"text"` }, []arrow.DataType{arrow.BinaryTypes.String}, false},
		{"booleans", 40000, func(int) string { return "true" }, []arrow.DataType{arrow.FixedWidthTypes.Boolean}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := recordOf(t, c.rows, c.value, c.kinds...)
			var out bytes.Buffer
			w := NewFileWriter(&out, "out", WriteOptions{})
			if err := errors.Join(w.Begin(want.Schema()), w.Write(want), w.Write(want), w.Close()); err != nil {
				t.Fatal(err)
			}
			mem := NewBudget(1 << 20)
			r, err := NewReader(bytes.NewReader(out.Bytes()), "in", ReadOptions{Slice: 1000, Budget: mem})
			if err != nil {
				t.Fatal(err)
			}
			var again bytes.Buffer // a slice that is written is what it was read as
			copied := NewFileWriter(&again, "again", WriteOptions{})
			if err := copied.Begin(want.Schema()); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second time after Rewind
				batches := 0
				for at := int64(0); ; batches++ {
					got, err := r.Next()
					if errors.Is(err, io.EOF) {
						break
					}
					if err != nil {
						t.Fatal(err)
					}
					n := got.NumRows()
					columns := array.NewRecord(want.Schema(), got.Columns(), n)
					if !array.RecordEqual(want.NewSlice(at, at+n), columns) {
						t.Fatalf("rows from %d differ", at)
					}
					columns.Release()
					if err := copied.Write(got); err != nil {
						t.Fatal(err)
					}
					if at = (at + n) % max(int64(c.rows), 1); c.slices && n*int64(len(c.kinds)) > 1000 {
						t.Errorf("a slice has %d rows", n)
					}
				}
				if c.slices != (batches > 2) {
					t.Errorf("%d batches", batches)
				}
				if err := r.Rewind(); err != nil {
					t.Fatal(err)
				}
			}
			if r.Close(); mem.Used() != 0 {
				t.Errorf("%d bytes are not given back", mem.Used())
			}
			if err := copied.Close(); err != nil {
				t.Fatal(err)
			}
			if r, err = NewReader(bytes.NewReader(again.Bytes()), "again", ReadOptions{}); err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			rows := int64(0)
			for {
				got, err := r.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				at := rows % max(int64(c.rows), 1)
				columns := array.NewRecord(want.Schema(), got.Columns(), got.NumRows())
				if !array.RecordEqual(want.NewSlice(at, at+got.NumRows()), columns) {
					t.Fatalf("rows from %d, written and read again, differ", at)
				}
				columns.Release()
				rows += got.NumRows()
			}
			if rows != 4*int64(c.rows) { // of two batches that were read twice
				t.Errorf("%d rows are written, want %d", rows, 4*c.rows)
			}
		})
	}
}

// How much of a file has been read is told after each slice.
func TestProgressOfSlices(t *testing.T) {
	const rows, slices = 1000, 10
	want := recordOf(t, rows, func(row int) string { return fmt.Sprint(row) }, arrow.PrimitiveTypes.Int64)
	data := write(t, FileKind, Compression{}, want)
	r, err := NewReader(bytes.NewReader(data), "in", ReadOptions{Slice: 8 * rows / slices})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	body := bytes.Index(data, binary.LittleEndian.AppendUint64(make([]byte, 8), 1)) // the first two values
	for read, at := int64(0), int64(body); read < rows; {
		rec, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		read += rec.NumRows()
		done, all := r.Progress()
		if all != int64(len(data)) || done <= at || done < int64(body)+8*read || done > int64(body)+8*read+64 { // a body is padded
			t.Errorf("after %d rows %d bytes of %d, before it %d", read, done, all, at)
		}
		at = done
	}
}

// What is wrong with a batch is said where the batch would have no room as a whole.
func TestSlicesOfDamagedFile(t *testing.T) {
	const rows, small = 100_000, 100_000
	data := write(t, FileKind, Compression{}, recordOf(t, rows, func(int) string { return "1" }, arrow.PrimitiveTypes.Int64))
	damaged := bytes.Clone(data)
	at := beginOf(t, damaged, 1)
	at += bytes.Index(damaged[at:], binary.LittleEndian.AppendUint64(nil, rows)) // the rows of the batch, or of its column
	binary.LittleEndian.PutUint64(damaged[at:], rows+1)
	_, err := readAll(damaged, ReadOptions{Slice: 1000, Budget: NewBudget(small)})
	if err == nil || !strings.Contains(err.Error(), "100000 rows, the batch has 100001") && !strings.Contains(err.Error(), "100001 rows, the batch has 100000") {
		t.Errorf("damaged: %v", err)
	}
	var limit *LimitError
	if _, err := readAll(data, ReadOptions{Slice: 2 * small, Budget: NewBudget(small)}); !errors.As(err, &limit) {
		t.Errorf("slices without room: %v", err)
	}
}

// A file that is cut while it is read is an error, not an end.
func TestSliceOfCutFile(t *testing.T) {
	want := recordOf(t, 1000, func(row int) string { return fmt.Sprint(row) }, arrow.PrimitiveTypes.Int64)
	var out bytes.Buffer
	w := NewFileWriter(&out, "out", WriteOptions{})
	if err := errors.Join(w.Begin(want.Schema()), w.Write(want), w.Close()); err != nil {
		t.Fatal(err)
	}
	data := &cutReader{Reader: bytes.NewReader(out.Bytes())}
	r, err := NewReader(data, "in", ReadOptions{Slice: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	data.cut = true
	if _, err := r.Next(); !errors.Is(err, errCut) {
		t.Errorf("error %v", err)
	}
}

type cutReader struct {
	*bytes.Reader
	cut bool
}

func (r *cutReader) ReadAt(p []byte, at int64) (int, error) {
	if r.cut {
		return 0, io.EOF
	}
	return r.Reader.ReadAt(p, at)
}
