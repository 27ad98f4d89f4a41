package arrowio

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
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

var errBroken = errors.New("the disk is broken")

// brokenDisk is an input of which one access fails, after so many that are left.
type brokenDisk struct {
	*bytes.Reader
	left int
}

func (d *brokenDisk) use() error {
	if d.left--; d.left == -1 {
		return errBroken
	}
	return nil
}

func (d *brokenDisk) Read(p []byte) (int, error) {
	if err := d.use(); err != nil {
		return 0, err
	}
	return d.Reader.Read(p)
}

func (d *brokenDisk) ReadAt(p []byte, at int64) (int, error) {
	if err := d.use(); err != nil {
		return 0, err
	}
	return d.Reader.ReadAt(p, at)
}

func (d *brokenDisk) Seek(at int64, whence int) (int64, error) {
	if err := d.use(); err != nil {
		return 0, err
	}
	return d.Reader.Seek(at, whence)
}

// Whichever access to an input fails, the error comes back and names the input.
func TestEveryFailedReadIsAnError(t *testing.T) {
	rec := recordOf(t, 100, func(row int) string { return fmt.Sprint(row) }, arrow.PrimitiveTypes.Int64)
	for _, kind := range kinds {
		data := write(t, kind, Compression{}, rec, rec)
		for _, c := range []struct {
			name string
			o    ReadOptions
			once bool
		}{{"whole", ReadOptions{}, false}, {"in slices", ReadOptions{Slice: 300}, false}, {"pipe", ReadOptions{}, true}} {
			for good := 0; ; good++ {
				disk := &brokenDisk{bytes.NewReader(data), good}
				rows, err := readTwice(disk, c.once, c.o)
				if disk.left >= 0 { // none has failed
					if rows != 200 || err != nil || good < 2 {
						t.Errorf("%s, %s: %d rows, %v, with less than %d accesses", kind, c.name, rows, err, good)
					}
					break
				}
				if !errors.Is(err, errBroken) || !strings.HasPrefix(err.Error(), "in: ") {
					t.Errorf("%s, %s: after %d accesses %d rows, %v", kind, c.name, good, rows, err)
				}
			}
		}
	}
}

// readTwice gives the rows of an input that is read, and read again where it can be.
func readTwice(disk *brokenDisk, once bool, o ReadOptions) (rows int64, err error) {
	var in io.Reader = disk
	if once {
		in = struct{ io.Reader }{disk}
	}
	r, err := NewReader(in, "in", o)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	if _, rows, err = Check(context.Background(), r); err != nil || once {
		return rows, err
	}
	if err = r.Rewind(); err != nil {
		return 0, err
	}
	_, rows, err = Check(context.Background(), r)
	return rows, err
}

// A file through a pipe, or a stream that does not fit, needs a temporary file.
func TestNoTemporaryFile(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	rec := sampleRecord(t, 3)
	const want = "temporary file: no such file or directory: set TMPDIR to a folder that can be written"
	if _, err := NewReader(once(write(t, FileKind, Compression{}, rec)), "in", ReadOptions{}); err == nil || err.Error() != want {
		t.Errorf("a file through a pipe: %v", err)
	}
	s := NewSpool(struct{ Stream }{NewBatches("in", rec.Schema(), rec)}, 1)
	if _, err := s.Next(); err == nil || err.Error() != want {
		t.Errorf("a spool: %v", err)
	}
}

// A temporary file that cannot be written or read any more is an error of the spool.
func TestSpoolOfBrokenFile(t *testing.T) {
	rec := sampleRecord(t, 3)
	for _, c := range []struct {
		name   string
		damage func(*os.File) error
		want   string
	}{
		{"closed", (*os.File).Close, "file already closed"},
		{"cut", func(f *os.File) error { return f.Truncate(0) }, "temporary file: is "},
	} {
		for read := 1; read <= 3; read++ { // of two batches, and the end
			s := NewSpool(struct{ Stream }{NewBatches("in", rec.Schema(), rec, rec)}, 1)
			for range read {
				if _, err := s.Next(); err != nil && err != io.EOF {
					t.Fatal(err)
				}
			}
			if err := c.damage(s.file); err != nil {
				t.Fatal(err)
			}
			_, _, err := Check(t.Context(), s)
			if err == nil {
				err = s.Rewind()
			}
			if err == nil {
				_, _, err = Check(t.Context(), s)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s after %d: %v", c.name, read, err)
			}
			if err := s.Close(); (err != nil) != (c.name == "closed") {
				t.Errorf("%s after %d: Close: %v", c.name, read, err)
			}
		}
	}
}

// deepType is a list of lists, so many in one another.
func deepType(depth int) arrow.DataType {
	dt := arrow.DataType(arrow.PrimitiveTypes.Int8)
	for range depth {
		dt = arrow.ListOf(dt)
	}
	return dt
}

// emptyRecord is a batch of no rows with a column of that type.
func emptyRecord(dt arrow.DataType) arrow.Record {
	a := array.MakeArrayOfNull(allocator, dt, 0)
	return columnRecord(a)
}

// A schema that no reader would take is not written, and what is not written is not kept.
func TestSchemaThatCannotBeWritten(t *testing.T) {
	rec := emptyRecord(deepType(maxDepth + 1))
	if err := NewWriter(io.Discard, "out", WriteOptions{}).Begin(rec.Schema()); !errors.Is(err, errDamaged) {
		t.Errorf("Begin: %v", err)
	}
	s := NewSpool(struct{ Stream }{NewBatches("in", rec.Schema(), rec)}, -1)
	if _, err := s.Next(); !errors.Is(err, errDamaged) {
		t.Errorf("a spool: %v", err)
	}
	s.Close()
	o := WriteOptions{Compression: Compression{Codec: LZ4, Level: 10}}
	if err := NewWriter(io.Discard, "out", o).Begin(sampleRecord(t, 1).Schema()); err == nil {
		t.Error("lz4 has a level 10")
	}
}

// shortList is three rows of two numbers each, of which there are no more than four: an array
// that breaks the rules of its type.
func shortList() arrow.Array {
	values := NewFloatArray([]float32{1, 2, 3, 4})
	return array.MakeFromData(array.NewData(VectorType(2), 3, []*memory.Buffer{nil}, []arrow.ArrayData{values.Data()}, 0, 0))
}

// coded is three rows of a dictionary.
func coded(words arrow.Array) arrow.Array {
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: words.DataType()}
	return array.NewDictionaryArray(dt, NewIntArray([]int32{0, 1, 2}, nil), words)
}

// inStruct is an array as the only field of a struct.
func inStruct(a arrow.Array) arrow.Array {
	out, err := array.NewStructArray([]arrow.Array{a}, []string{"s"})
	if err != nil {
		panic(err)
	}
	return out
}

// inUnion is an array as the only child of a dense union.
func inUnion(a arrow.Array) arrow.Array {
	codes, offsets := array.NewInt8Builder(allocator), NewIntArray([]int32{0, 1, 2}, nil)
	codes.AppendValues([]int8{0, 0, 0}, nil)
	out, err := array.NewDenseUnionFromArrays(codes.NewArray(), offsets, []arrow.Array{a})
	if err != nil {
		panic(err)
	}
	return out
}

// Arrays that break the rules of their type are not written, wherever they are.
func TestBrokenArraysAreNotWritten(t *testing.T) {
	const short = "has a child of 4 values that should have 6"
	backwards := array.NewStringData(array.NewData(arrow.BinaryTypes.String, 1,
		[]*memory.Buffer{nil, memory.NewBufferBytes(arrow.GetBytes([]int32{4, 2})), memory.NewBufferBytes([]byte("abcd"))}, nil, 0, 0))
	for _, c := range []struct {
		name string
		col  arrow.Array
		want string
	}{
		{"list", shortList(), short},
		{"in a struct", inStruct(shortList()), short},
		{"in a union", inUnion(shortList()), short},
		{"in a dictionary", coded(shortList()), short},
		{"in a dictionary of a dictionary", coded(inStruct(coded(shortList()))), short},
		{"offsets that fall", backwards, "is damaged: runtime error: slice bounds out of range"},
	} {
		rec := columnRecord(c.col)
		w := NewWriter(io.Discard, "out", WriteOptions{})
		if err := w.Begin(rec.Schema()); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if err := w.Write(rec); err == nil || !strings.HasPrefix(err.Error(), "out: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if err := w.Close(); err == nil {
			t.Errorf("%s: Close has no error", c.name)
		}
	}
}

// Outputs that cannot be written or opened, and inputs that cannot be read, are errors of the
// functions that use them.
func TestErrorsComeBack(t *testing.T) {
	dir := t.TempDir()
	none, text, circle := filepath.Join(dir, "none", "a.arrow"), filepath.Join(dir, "a.txt"), filepath.Join(dir, "circle")
	if err := errors.Join(os.WriteFile(text, []byte("text"), 0o666), os.Symlink(circle, circle)); err != nil {
		t.Fatal(err)
	}
	rec := sampleRecord(t, 3)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	const folder = ": no such file or directory: write to a file in a folder that exists and can be written"
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"WriteRecord", WriteRecord(NewWriter(&fullDisk{}, "out", WriteOptions{}), rec), "out: no space is left"},
		{"Each", Each(ended, NewBatches("in", rec.Schema(), rec), func(arrow.Record) error { return nil }), "context canceled"},
		{"Each of an error without its input", Each(t.Context(), NewBatches("in", rec.Schema(), rec), func(arrow.Record) error {
			return &Error{Column: "id", Err: errBroken}
		}), `in: column "id": the disk is broken`},
		{"Save", Save(none, rec), none + folder},
		{"CheckOutput", CheckOutput(none, WriteOptions{}), none + folder},
		{"Open", second(Open(text, ReadOptions{})), text + ": is neither an Arrow stream nor an Arrow file"},
		{"IsArrowFile", second(IsArrowFile(dir)), "read " + dir},
		{"CheckFiles of a circle of links", CheckFiles(nil, []FileUse{{Path: circle}}), circle + ": too many levels of symbolic links: choose another path"},
		{"CheckFiles of a file in an input", CheckFiles([]FileUse{{Path: dir}}, []FileUse{{Path: filepath.Join(dir, "new")}}),
			filepath.Join(dir, "new") + ": is input and output at once (" + dir + " and " + filepath.Join(dir, "new") + "): write to another file"},
		{"WithContext", second(WithContext(ended, strings.NewReader("text")).Read(make([]byte, 4))), "context canceled"},
	} {
		if c.err == nil || !strings.HasPrefix(c.err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, c.err, c.want)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// A file that is standard input is not written as standard output.
func TestStandardOutputMayNotBeStandardInput(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "a.arrows"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	stdin, stdout := os.Stdin, os.Stdout
	defer func() { os.Stdin, os.Stdout = stdin, stdout }()
	os.Stdin, os.Stdout = f, f
	const want = "standard output: is input and output at once (standard input and standard output): write to another file"
	if _, err := Create("-", WriteOptions{}); err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
}

// brokenCloser cannot be closed.
type brokenCloser struct{}

func (brokenCloser) Close() error { return errBroken }

func TestCloseFails(t *testing.T) {
	r := newReader(t, write(t, StreamKind, Compression{}, sampleRecord(t, 1)))
	r.closer = brokenCloser{}
	if err := r.Close(); !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
}

// reads makes the functions that read columns alike.
func reads[T any](read func(arrow.Record, string) (T, error)) func(arrow.Record, string) error {
	return func(rec arrow.Record, name string) error { return second(read(rec, name)) }
}

// Each function that reads a column says that it is missing, or is of another type.
func TestColumnErrors(t *testing.T) {
	text := oneColumn(t, arrow.BinaryTypes.String, `["a"]`)
	category := oneColumn(t, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, `["a"]`)
	number := oneColumn(t, arrow.PrimitiveTypes.Int64, `[1]`)
	words := oneColumn(t, arrow.ListOf(arrow.BinaryTypes.String), `[["a"]]`)
	for _, c := range []struct {
		name string
		read func(arrow.Record, string) error
		rec  arrow.Record
		want string
	}{
		{"IntColumn", reads(IntColumn), category, "has type utf8: must be an integer, or floats that are whole numbers"},
		{"FloatColumn", reads(FloatColumn), text, "has type utf8: must be numbers"},
		{"FloatColumnWithGaps", reads(FloatColumnWithGaps), text, "has type utf8: must be numbers"},
		{"Floats", reads(Floats), text, "has type utf8: must be numbers"},
		{"VectorColumn", reads(VectorColumn), words, "has type list<item: utf8, nullable>: must be lists of numbers, all of one length"},
		{"VectorColumnWithGaps", reads(VectorColumnWithGaps), text, "has type utf8: must be lists of numbers, all of one length"},
		{"StringColumn", reads(StringColumn), number, "has type int64: must be strings"},
		{"DomainColumn", reads(DomainColumn), number, `has type int64: must be strings, "source" or "target"`},
		{"LabelColumn", func(rec arrow.Record, name string) error { return second(LabelColumn(rec, name, nil)) }, words,
			"has type list<item: utf8, nullable>: must be an integer, or floats that are whole numbers"},
	} {
		if err := c.read(c.rec, "x"); err == nil || err.Error() != `column "x": `+c.want {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
		const want = `column "y": is missing (the columns are x): name another by its flag, or run the stage that adds it`
		if err := c.read(c.rec, "y"); err == nil || err.Error() != want {
			t.Errorf("%s of no column: %v", c.name, err)
		}
	}
	if _, err := FloatColumn(oneColumn(t, arrow.PrimitiveTypes.Int64, `[null, 1]`), "x"); err == nil || err.Error() != `column "x": row 1: is null: fill or drop the row` {
		t.Errorf("a null in the first row: %v", err)
	}
}
