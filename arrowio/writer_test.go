package arrowio

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
	"github.com/apache/arrow/go/v15/arrow/ipc"
)

// What this package writes, arrow/go reads: streams and files.
func TestArrowGoReadsOurs(t *testing.T) {
	rec := zooRecord(t)
	for _, c := range codecs {
		stream, err := ipc.NewReader(bytes.NewReader(write(t, StreamKind, c, rec, rec.NewSlice(1, 4))))
		if err != nil {
			t.Fatalf("%s: %v", c, err)
		}
		for _, want := range []arrow.Record{rec, rec.NewSlice(1, 4)} {
			if !stream.Next() || !array.RecordEqual(stream.Record(), want) {
				t.Errorf("stream, %s: %v: got %v, want %v", c, stream.Err(), stream.Record(), want)
			}
		}
		file, err := ipc.NewFileReader(bytes.NewReader(write(t, FileKind, c, rec, rec.NewSlice(1, 4))))
		if err != nil {
			t.Fatalf("%s: %v", c, err)
		}
		got, err := file.RecordAt(1)
		if err != nil || file.NumRecords() != 2 || !array.RecordEqual(got, rec.NewSlice(1, 4)) {
			t.Errorf("file, %s: %v, %d batches: got %v", c, err, file.NumRecords(), got)
		}
	}
}

// What arrow/go writes, this package reads.
func TestOursReadsArrowGo(t *testing.T) {
	rec := zooRecord(t)
	for _, option := range []ipc.Option{ipc.WithSchema(rec.Schema()), ipc.WithLZ4(), ipc.WithZstd()} {
		var buf bytes.Buffer
		w := ipc.NewWriter(&buf, ipc.WithSchema(rec.Schema()), option)
		if err := errors.Join(w.Write(rec), w.Close()); err != nil {
			t.Fatal(err)
		}
		got, err := readAll(buf.Bytes(), ReadOptions{})
		if err != nil || len(got) != 1 || !array.RecordEqual(got[0], rec) {
			t.Errorf("%v: got %v, want %v", err, got, rec)
		}
		if !got[0].Schema().Equal(rec.Schema()) {
			t.Errorf("schema is %v, want %v", got[0].Schema(), rec.Schema())
		}
	}
}

func TestPassThroughIsVerbatim(t *testing.T) {
	in := writeWhole(t, StreamKind, Compression{}, sampleRecord(t, 100), sampleRecord(t, 5000), sampleRecord(t, 7))
	var out bytes.Buffer
	r, err := NewReader(bytes.NewReader(in), "in", ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := Copy(t.Context(), NewWriter(&out, "out", WriteOptions{}), r); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes(), in) {
		t.Error("the bytes have changed")
	}
}

// endless repeats a batch message of a stream as long as it is read.
type endless struct {
	start, batch []byte
	at           int
}

func (e *endless) Read(p []byte) (int, error) {
	if len(e.start) > 0 {
		n := copy(p, e.start)
		e.start = e.start[n:]
		return n, nil
	}
	n := copy(p, e.batch[e.at:])
	e.at = (e.at + n) % len(e.batch)
	return n, nil
}

func TestPassThroughDoesNotAllocate(t *testing.T) {
	v := Vectors{Rows: 128, Width: 2048, Data: make([]float32, 128*2048)}
	schema := arrow.NewSchema([]arrow.Field{{Name: "features", Type: VectorType(2048)}}, nil)
	rec := array.NewRecord(schema, []arrow.Array{NewVectorArray(v)}, 128)
	one, two := write(t, StreamKind, Compression{}, rec), write(t, StreamKind, Compression{}, rec, rec)
	start := len(one) - (len(two) - len(one)) - 8
	r, err := NewReader(&endless{start: one[:start], batch: one[start : len(one)-8]}, "in", ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w := NewWriter(io.Discard, "out", WriteOptions{})
	if err := w.Begin(r.Schema()); err != nil {
		t.Fatal(err)
	}
	pass := func() {
		rec, err := r.Next()
		if err == nil {
			err = w.Write(rec)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := testing.AllocsPerRun(100, pass); n > 0 {
		t.Errorf("%v allocations per batch", n)
	}
}

func TestZeroRows(t *testing.T) {
	for _, kind := range kinds {
		var buf bytes.Buffer
		w := NewWriter(&buf, "out", WriteOptions{})
		if kind == FileKind {
			w = NewFileWriter(&buf, "out", WriteOptions{})
		}
		schema := sampleRecord(t, 1).Schema()
		if err := errors.Join(w.Begin(schema), w.Close()); err != nil {
			t.Fatal(err)
		}
		r, err := NewReader(&buf, "in", ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if !r.Schema().Equal(schema) {
			t.Errorf("%s: schema is %v", kind, r.Schema())
		}
		if _, err := r.Next(); err != io.EOF {
			t.Errorf("%s: %v, want EOF", kind, err)
		}
	}
}

func TestLargeBatchesAreCut(t *testing.T) {
	v := Vectors{Rows: 40_000, Width: 64, Data: make([]float32, 40_000*64)} // 10 MB
	for i := range v.Data {
		v.Data[i] = float32(i)
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "features", Type: VectorType(64)}}, nil)
	rec := array.NewRecord(schema, []arrow.Array{NewVectorArray(v)}, 40_000)
	records, err := readAll(write(t, StreamKind, Compression{}, rec), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(records) < 9 || len(records) > 12 {
		t.Errorf("10 MB make %d batches", len(records))
	}
	at := 0
	for _, rec := range records {
		got, err := VectorColumn(rec, "features")
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range got.Data {
			if x != v.Data[at] {
				t.Fatalf("element %d is %v, want %v", at, x, v.Data[at])
			}
			at++
		}
	}
	if at != len(v.Data) {
		t.Errorf("%d of %d elements", at, len(v.Data))
	}
}

// Pieces of a large batch of views do not each carry all of its data.
func TestViewsAreCompacted(t *testing.T) {
	b := array.NewBuilder(allocator, arrow.BinaryTypes.StringView).(*array.StringViewBuilder)
	for range 300_000 {
		b.Append("a string of more than twelve bytes")
	}
	col := b.NewArray()
	schema := arrow.NewSchema([]arrow.Field{{Name: "s", Type: col.DataType()}}, nil)
	data := write(t, StreamKind, Compression{}, array.NewRecord(schema, []arrow.Array{col}, int64(col.Len())))
	if len(data) > 20<<20 {
		t.Errorf("15 MB of strings take %d MB", len(data)>>20)
	}
	rows := 0
	records, err := readAll(data, ReadOptions{})
	for _, rec := range records {
		got, err := StringColumn(rec, "s")
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range got.Values {
			if s != "a string of more than twelve bytes" {
				t.Fatalf("row %d is %q", rows, s)
			}
			rows++
		}
	}
	if err != nil || rows != 300_000 {
		t.Errorf("%d rows, %v", rows, err)
	}
}

func TestFileAppearsOnClose(t *testing.T) {
	for _, name := range []string{"out.arrow", "out.arrows"} {
		path := filepath.Join(t.TempDir(), name)
		w, err := Create(path, WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		rec := sampleRecord(t, 5)
		if err := errors.Join(w.Begin(rec.Schema()), w.Write(rec)); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s is there before Close", name)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := Open(path, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if want := map[string]Kind{"out.arrow": FileKind, "out.arrows": StreamKind}[name]; r.Kind() != want {
			t.Errorf("%s is an %s", name, r.Kind())
		}
		if _, rows, err := Check(t.Context(), r); rows != 5 || err != nil {
			t.Errorf("%s: %d rows, %v", name, rows, err)
		}
		r.Close()
	}
}

func TestFailureLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.arrow")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	w, err := Create(path, WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	rec := sampleRecord(t, 5)
	if err := errors.Join(w.Begin(rec.Schema()), w.Write(rec)); err != nil {
		t.Fatal(err)
	}
	w.Fail(errors.New("broke"))
	if err := w.Close(); err == nil {
		t.Error("Close after Fail reports nothing")
	}
	old, _ := os.ReadFile(path)
	entries, _ := os.ReadDir(dir)
	if string(old) != "old" || len(entries) != 1 {
		t.Errorf("the file is %q among %d", old, len(entries))
	}
}

func TestFailPoisonsStream(t *testing.T) {
	rec := sampleRecord(t, 5)
	var buf bytes.Buffer
	w := NewWriter(&buf, "out", WriteOptions{})
	if err := errors.Join(w.Begin(rec.Schema()), w.Write(rec)); err != nil {
		t.Fatal(err)
	}
	w.Fail(errors.New("mars-train: diverged"))
	_, err := readAll(buf.Bytes(), ReadOptions{})
	if err == nil || !strings.Contains(err.Error(), "mars-train: diverged") {
		t.Errorf("our reader: %v", err)
	}
	r, err := ipc.NewReader(bytes.NewReader(buf.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	for r.Next() {
	}
	if r.Err() == nil {
		t.Error("arrow/go takes the stream for whole")
	}
}

// After a batch that cannot be written the output is poisoned, and Close fails.
func TestBadBatchPoisons(t *testing.T) {
	rec := sampleRecord(t, 5)
	var buf bytes.Buffer
	w := NewWriter(&buf, "out", WriteOptions{})
	if err := w.Begin(rec.Schema()); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(zooRecord(t)); err == nil {
		t.Error("a batch of another schema is written")
	}
	if err := w.Close(); err == nil {
		t.Error("Close after a failed Write reports nothing")
	}
	if _, err := readAll(buf.Bytes(), ReadOptions{}); err == nil {
		t.Error("the output is taken for whole")
	}
}

func TestBrokenPipe(t *testing.T) {
	r, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer pipe.Close()
	w := NewWriter(pipe, "out", WriteOptions{})
	if err := w.Begin(sampleRecord(t, 1).Schema()); !errors.Is(err, ErrBrokenPipe) {
		t.Errorf("got %v, want ErrBrokenPipe", err)
	}
	w.Fail(err)
	if err := w.Close(); !errors.Is(err, ErrBrokenPipe) {
		t.Errorf("Close: got %v, want ErrBrokenPipe", err)
	}
}

func TestOutputMayNotBeInput(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a.arrow"), filepath.Join(dir, "b.arrow")
	if err := errors.Join(os.WriteFile(path, []byte("x"), 0o644), os.Symlink(path, link)); err != nil {
		t.Fatal(err)
	}
	err := CheckFiles([]FileUse{{Path: link}}, []FileUse{{Flag: "-o", Path: path}})
	if err == nil || !strings.Contains(err.Error(), "input and output at once") {
		t.Errorf("got %v", err)
	}
}

func TestOutputKeepsModeAndLink(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a.arrow"), filepath.Join(dir, "b.arrow")
	if err := errors.Join(os.WriteFile(path, []byte("x"), 0o600), os.Symlink(path, link)); err != nil {
		t.Fatal(err)
	}
	w, err := Create(link, WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Begin(sampleRecord(t, 1).Schema()), w.Close()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 || info.Size() < 100 {
		t.Errorf("%v, %v", info, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
}

// Standard input counts as an input, by whatever name it was opened.
func TestOutputMayNotBeStandardInput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.arrow")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	stdin := os.Stdin
	os.Stdin = f
	defer func() { os.Stdin = stdin }()
	if _, err := Create(path, WriteOptions{}); err == nil || !strings.Contains(err.Error(), "input and output at once") {
		t.Errorf("got %v", err)
	}
}

func TestFileRefusesChangingDictionary(t *testing.T) {
	r, err := NewReader(bytes.NewReader(dictionaryStream(t, false)), "in", ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	err = Copy(t.Context(), NewFileWriter(new(bytes.Buffer), "out.arrow", WriteOptions{}), r)
	if err == nil || !strings.Contains(err.Error(), "write a stream") {
		t.Errorf("got %v", err)
	}
}
