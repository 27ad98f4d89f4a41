package arrowio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

func TestNotArrow(t *testing.T) {
	for _, c := range []struct{ input, want string }{
		{"", "is empty"},
		{"a,b,c\n1,2,3\n", "neither"}, // without a package that knows other formats
		{"\x10\x00\x00\x00\x00\x00\x0a\x00", "neither"},
		{"\x00\x01\x02", "neither"},
		{"\xff\xff\xff", "neither"},
		{"\xff\xff\xff\xff", "ends in the middle"},
		{"\xff\xff\xff\xff\x00\x00\x00\x00", "ends before its schema"},
		{"ARROW1\x00\x00", "footer"},
		{"ARROW1", "footer"},
	} {
		for _, in := range []io.Reader{strings.NewReader(c.input), io.MultiReader(strings.NewReader(c.input))} {
			_, err := NewReader(in, "in.dat", ReadOptions{})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "in.dat: ") {
				t.Errorf("%q: got %v, want an error with %q", c.input, err, c.want)
			}
		}
	}
}

func TestMissingFile(t *testing.T) {
	_, err := Open("no/such/file", ReadOptions{})
	if !errors.Is(err, os.ErrNotExist) || strings.Count(err.Error(), "no/such/file") != 1 {
		t.Errorf("got %v", err)
	}
}

func TestBytesAfterTheEnd(t *testing.T) {
	data := write(t, StreamKind, Compression{}, sampleRecord(t, 3))
	for _, more := range [][]byte{{0}, []byte("done\n"), data} {
		_, err := readAll(append(bytes.Clone(data), more...), ReadOptions{})
		if err == nil || !strings.Contains(err.Error(), "goes on after its end") {
			t.Errorf("%d more bytes: got %v", len(more), err)
		}
	}
}

// The error of a damaged batch says where it is.
func TestErrorsLocate(t *testing.T) {
	rec := zooColumn(t, 13) // strings
	one := write(t, StreamKind, Compression{}, rec)
	data := write(t, StreamKind, Compression{}, rec, rec)
	at := bytes.LastIndex(data, []byte("longer")) - 64 // the offsets of batch 1
	binary.LittleEndian.PutUint32(data[at+8:], 1<<30)
	_, err := readAll(data, ReadOptions{})
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v", err)
	}
	if e.Input != "in" || e.At == nil || e.At.Batch != 1 || e.Column != "c13" || e.At.Offset != int64(len(one)-8) || e.Advice == "" {
		t.Errorf("got %+v", e)
	}
	if !strings.HasPrefix(err.Error(), `in: byte `) || !strings.Contains(err.Error(), `batch 1, column "c13": row `) {
		t.Errorf("got %v", err)
	}
}

func TestReaderFromPipe(t *testing.T) {
	for _, kind := range kinds { // polars' sink_ipc sends the file format down a pipe
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		data := write(t, kind, Compression{}, sampleRecord(t, 2000))
		go func() {
			w.Write(data)
			w.Close()
		}()
		in, err := NewReader(r, "pipe", ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, rows, err := Check(t.Context(), in); rows != 2000 || err != nil {
			t.Errorf("%s: %d rows, %v", kind, rows, err)
		}
		in.Close()
		r.Close()
	}
}

func TestRewind(t *testing.T) {
	for _, kind := range kinds {
		data := write(t, kind, Compression{Codec: Zstd}, zooRecord(t), sampleLike(t, 3))
		r, err := NewReader(bytes.NewReader(data), "in", ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for pass := range 3 {
			if _, rows, err := Check(t.Context(), r); rows != 8 || err != nil {
				t.Errorf("%s: pass %d: %d rows, %v", kind, pass, rows, err)
			}
			if err := r.Rewind(); err != nil {
				t.Fatal(err)
			}
		}
		r.Close()
	}
}

// sampleLike is the first n rows of the zoo.
func sampleLike(t *testing.T, n int64) arrow.Record { return zooRecord(t).NewSlice(0, n) }

func TestRetainedBatchesStay(t *testing.T) {
	a, b := sampleRecord(t, 10), sampleRecord(t, 20)
	r, err := NewReader(bytes.NewReader(write(t, StreamKind, Compression{}, a, b, a, b)), "in", ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var kept []arrow.Record
	var columns []arrow.Array
	for i := 0; ; i++ {
		rec, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			rec.Retain()
			kept = append(kept, rec)
		} else { // an array alone keeps its memory too
			rec.Column(3).Retain()
			columns = append(columns, rec.Column(3))
		}
	}
	r.Close()
	for _, rec := range kept {
		if !array.RecordEqual(rec, a) {
			t.Errorf("got %v, want %v", rec, a)
		}
		rec.Release()
	}
	for _, col := range columns {
		if !array.Equal(col, b.Column(3)) {
			t.Errorf("got %v, want %v", col, b.Column(3))
		}
		col.Release()
	}
}

func TestNothingLeaks(t *testing.T) {
	for _, s := range specimens(t) {
		mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
		records, err := readAll(s.data, ReadOptions{Allocator: mem})
		if err != nil {
			t.Fatal(err)
		}
		w := NewWriter(io.Discard, "out", WriteOptions{})
		if err := w.Begin(records[0].Schema()); err != nil {
			t.Fatal(err)
		}
		for _, rec := range records {
			slice := rec.NewSlice(1, 2)
			if err := errors.Join(w.Write(rec), w.Write(slice)); err != nil {
				t.Fatal(err)
			}
			slice.Release()
			rec.Release()
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		mem.AssertSize(t, 0)
		checkLeakOfBroken(t, s.data[:len(s.data)-9])
	}
}

func checkLeakOfBroken(t *testing.T, data []byte) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	records, err := readAll(data, ReadOptions{Allocator: mem})
	if err == nil {
		t.Error("a cut input has no error")
	}
	for _, rec := range records {
		rec.Release()
	}
	mem.AssertSize(t, 0)
}

func TestMemoryLimit(t *testing.T) {
	v := Vectors{Rows: 1000, Width: 1000, Data: make([]float32, 1_000_000)} // 4 MB
	schema := arrow.NewSchema([]arrow.Field{{Name: "features", Type: VectorType(1000)}}, nil)
	rec := array.NewRecord(schema, []arrow.Array{NewVectorArray(v)}, 1000)
	for _, c := range codecs[:3] { // zeros: a few hundred bytes, compressed
		data := write(t, StreamKind, c, rec)
		for _, in := range []io.Reader{bytes.NewReader(data), io.MultiReader(bytes.NewReader(data))} {
			r, err := NewReader(in, "in", ReadOptions{Budget: NewBudget(1 << 20)})
			if err != nil {
				t.Fatal(err)
			}
			var limit *LimitError
			if _, _, err := Check(t.Context(), r); !errors.As(err, &limit) || !strings.Contains(err.Error(), "--memory-limit") {
				t.Errorf("%s: got %v", c, err)
			}
			r.Close()
		}
		if _, err := readAll(data, ReadOptions{Budget: NewBudget(16 << 20)}); err != nil {
			t.Errorf("%s: within the limit: %v", c, err)
		}
	}
}

// Memory for large batches through a pipe stays near what one of them takes.
func TestLargeBatchesThroughPipe(t *testing.T) {
	v := Vectors{Rows: 3000, Width: 1000, Data: make([]float32, 3_000_000)} // 12 MB
	schema := arrow.NewSchema([]arrow.Field{{Name: "features", Type: VectorType(1000)}}, nil)
	var buf bytes.Buffer
	w := ipc.NewWriter(&buf, ipc.WithSchema(schema)) // which does not cut them
	for range 5 {
		if err := w.Write(array.NewRecord(schema, []arrow.Array{NewVectorArray(v)}, 3000)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	m := &meter{Allocator: memory.NewGoAllocator()}
	r, err := NewReader(once(buf.Bytes()), "in", ReadOptions{Allocator: m})
	if err != nil {
		t.Fatal(err)
	}
	_, rows, err := Check(t.Context(), r)
	r.Close()
	if rows != 15_000 || err != nil || m.peak.Load() > 33<<20 {
		t.Errorf("%d rows, %v, %d MB", rows, err, m.peak.Load()>>20)
	}
}

// A length that claims much takes no memory if the bytes do not come.
func TestLyingLengthsCostNothing(t *testing.T) {
	data := write(t, StreamKind, Compression{}, zooColumn(t, 3))
	at := bytes.Index(data, binary.LittleEndian.AppendUint64(nil, 64)) // the body's length, or a buffer's
	binary.LittleEndian.PutUint64(data[at:], 4<<30)
	m := &meter{Allocator: memory.NewGoAllocator()}
	r, err := NewReader(io.MultiReader(bytes.NewReader(data)), "in", ReadOptions{Allocator: m})
	if err == nil {
		_, _, err = Check(t.Context(), r)
		r.Close()
	}
	if err == nil || m.peak.Load() > 2*growStep {
		t.Errorf("%v after %d bytes", err, m.peak.Load())
	}
}

// Types that cannot be read are refused by name, with what to do.
func TestUnknownTypes(t *testing.T) {
	data := write(t, StreamKind, Compression{}, zooColumn(t, 2)) // int8
	want := `column "c2": is an integer of 128 bits, which is not supported: cast it to int64`
	for at := 8; at < 400; at += 4 {
		out := bytes.Clone(data)
		binary.LittleEndian.PutUint32(out[at:], 128)
		if _, err := readAll(out, ReadOptions{}); err != nil && strings.Contains(err.Error(), want) {
			return
		}
	}
	t.Fatal("no 128 anywhere is taken for the bit width")
}

// arrow/go panics over a map whose keys have nulls, when it makes the array.
func TestNullMapKeys(t *testing.T) {
	keys := oneColumn(t, arrow.BinaryTypes.String, `["a", null]`).Column(0)
	pairs := arrow.StructOf(arrow.Field{Name: "key", Type: arrow.BinaryTypes.String, Nullable: true}, arrow.Field{Name: "value", Type: arrow.BinaryTypes.String, Nullable: true})
	entries, err := array.NewStructArray([]arrow.Array{keys, keys}, []string{"key", "value"})
	if err != nil {
		t.Fatal(err)
	}
	list := array.NewData(arrow.ListOf(pairs), 1, []*memory.Buffer{nil, memory.NewBufferBytes(arrow.GetBytes([]int32{0, 2}))}, []arrow.ArrayData{entries.Data()}, 0, 0)
	data := write(t, StreamKind, Compression{}, columnRecord(array.MakeFromData(list)))
	asMap := bytes.Clone(data)
	for at := range 400 { // the List among the types of the schema
		if asMap[at] = data[at]; data[at] == typeList {
			asMap[at] = typeMap
			if _, err := readAll(asMap, ReadOptions{}); err != nil && strings.Contains(err.Error(), "null keys") {
				return
			}
			asMap[at] = data[at]
		}
	}
	t.Error("null keys are taken")
}

func TestOpenRegularFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.dat")
	if err := os.WriteFile(path, write(t, StreamKind, Compression{}, sampleRecord(t, 3)), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := Open(path, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if !r.CanRewind() || r.Kind() != StreamKind || r.Name() != path {
		t.Errorf("rewind %v, kind %s, name %s", r.CanRewind(), r.Kind(), r.Name())
	}
}
