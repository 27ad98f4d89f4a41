package tables

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/internal/race"
)

// TestMemoryLimit reads inputs whose content is far larger than the limit. Each must
// be refused, by the limit, before the reader holds more.
func TestMemoryLimit(t *testing.T) {
	if race.Detector {
		t.Skip("its memory is not that of programs, and it takes a minute")
	}
	const limit = 8 << 20
	fill := func(head, unit string) io.Reader {
		return io.MultiReader(strings.NewReader(head), &repeat{unit: unit, left: 64 << 20})
	}
	for name, r := range map[string]io.Reader{
		"line.csv":     fill("x,label\n", "1"),
		"header.csv":   fill("", "a"),
		"field.csv":    fill("x,label\n\"", "a\n"),
		"commas.csv":   fill("x", ","),
		"rows.csv":     fill("x,label\n", "1,a\n"),
		"labels.csv":   &counted{head: "x,label\n", row: "1,a%d\n"},
		"ids.csv":      &counted{head: "x,id\n", row: "1,%d\n"},
		"line.jsonl":   fill("{\"x\":1,\"y\":\"", "1"),
		"keys.jsonl":   &counted{head: "{\"x\":1", row: ",\"k%d\":1"},
		"rows.jsonl":   fill("", "{\"x\":1,\"label\":2}\n"),
		"wide.jsonl":   &counted{row: "{\"k%d\":1}\n"},
		"deep.jsonl":   fill("{\"x\":", "["),
		"ids.jsonl":    &counted{row: "{\"x\":1,\"id\":\"r%d\"}\n"},
		"row.svm":      fill("1", " 1:1"),
		"value.svm":    fill("1 1:", "1"),
		"rows.svm":     fill("", "1 1:1\n"),
		"far.svm":      fill("1 16384:1\n", "1 1:1\n"),
		"head.arff":    &counted{head: "@relation a\n", row: "@attribute a%d real\n"},
		"values.arff":  &counted{head: "@relation a\n@attribute a {", row: "v%d,"},
		"rows.arff":    fill("@relation a\n@attribute a real\n@data\n", "1\n"),
		"line.arff":    fill("@relation a\n@attribute a string\n@attribute x real\n@data\n", "1"),
		"shape.npy":    fill(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (16777216, 1), }", ""), "\x00"),
		"names.npy":    &counted{head: string(npy("{'descr': '|S65536', 'fortran_order': False, 'shape': (16777216,), }", "")), row: "%d "},
		"images":       fill("\x00\x00\x08\x03\x01\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x04", "\x01"),
		"zip.npz":      fill("PK\x03\x04", "\x00"),
		"pq.parquet":   fill("PAR1", "\x00"),
		"zip.npz.gz":   zipped(fill("PK\x03\x04", "\x00")),
		"line.csv.gz":  zipped(fill("x,label\n", "1")),
		"line.csv.zst": packed(fill("x,label\n", "1"), func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w, zstd.WithWindowSize(1<<20)); return z }),
		"line.csv.lz4": packed(fill("x,label\n", "1"), func(w io.Writer) io.WriteCloser { return lz4.NewWriter(w) }),
		"line.csv.xz":  bytes.NewReader(oracleFile(t, "../formats/bomb.csv.xz")),
		"line.csv.bz2": bytes.NewReader(oracleFile(t, "../formats/bomb.csv.bz2")),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			o := Options{Memory: arrowio.NewBudget(limit)}
			var err error
			if name == "text.mat" {
				_, err = Read(t.Context(), r, name, Options{Memory: o.Memory, X: "none", Y: "y"})
			} else if strings.HasPrefix(name, "names") {
				_, err = readArrayLabels(readNPY(r, o.Memory))
			} else {
				_, err = Read(t.Context(), r, name, o)
			}
			var refused *arrowio.LimitError
			if !errors.As(err, &refused) {
				t.Fatalf("error %v, want one of the limit", err)
			}
			runtime.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; got > 10*limit { // garbage too
				t.Errorf("allocated %d MB in all", got>>20)
			}
		})
	}
}

// matOf is the beginning of a MATLAB file with a variable, up to its values.
func matOf(class byte, rows, cols uint32, name string, kind, size uint32) string {
	u := func(values ...uint32) (out string) {
		for _, v := range values {
			out += string(binary.LittleEndian.AppendUint32(nil, v))
		}
		return out
	}
	body := u(6, 8, uint32(class), 0, 5, 8, rows, cols, 1<<16|1) + name + "\x00\x00\x00" + u(kind, size)
	return fmt.Sprintf("%-124s\x00\x01IM", "MATLAB 5.0") + u(14, uint32(len(body))+size) + body
}

// repeat gives unit again and again.
type repeat struct {
	unit     string
	at, left int
}

func (r *repeat) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), r.left)
	for i := range p[:n] {
		p[i] = r.unit[r.at]
		r.at = (r.at + 1) % len(r.unit)
	}
	r.left -= n
	return n, nil
}

// counted gives numbered rows.
type counted struct {
	head, row string
	n         int
	buffer    bytes.Buffer
}

func (c *counted) Read(p []byte) (int, error) {
	c.buffer.WriteString(c.head)
	c.head = ""
	for c.buffer.Len() < len(p) {
		c.n++
		fmt.Fprintf(&c.buffer, c.row, c.n)
	}
	return c.buffer.Read(p)
}

func zipped(r io.Reader) io.Reader {
	return packed(r, func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) })
}

func packed(r io.Reader, writer func(io.Writer) io.WriteCloser) io.Reader {
	var out bytes.Buffer
	w := writer(&out)
	io.Copy(struct{ io.Writer }{w}, r)
	w.Close()
	return &out
}

func TestWideText(t *testing.T) {
	var text strings.Builder
	const columns = 30000
	for _, row := range []string{"c%d", "%d", "1%d"} {
		for i := range columns {
			fmt.Fprintf(&text, row+",", i)
		}
		text.WriteString("label\n")
	}
	got, err := Read(t.Context(), strings.NewReader(text.String()), "a.csv", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Columns) != columns || got.Row(1)[7] != 17 {
		t.Fatalf("%d columns, %v", len(got.Columns), got.Row(1)[:8])
	}
}

func TestEncodings(t *testing.T) {
	utf16le := func(s string) string {
		var out strings.Builder
		for _, r := range s {
			out.WriteByte(byte(r))
			out.WriteByte(byte(r >> 8))
		}
		return out.String()
	}
	long := strings.Repeat("1,a\n", 40000)
	for _, tc := range []struct{ name, encoding, text, want, fault string }{
		{"utf-8", "", "x,label\n1,Zoë\n", "Zoë", ""},
		{"cut characters", "", "x,label\n" + long + "1,Zoë\n", "Zoë", ""},
		{"latin1", "latin1", "x,label\n1,Zo\xeb\n", "Zoë", ""},
		{"windows", "windows-1252", "x,label\n1,\x80\n", "€", ""},
		{"utf-16", "utf-16", "\xff\xfe" + utf16le("x,label\n1,Zoë€\n"), "Zoë€", ""},
		{"utf-16 without a mark", "utf-16", utf16le("x,label\n1,b\n"), "b", ""},
		{"utf-16 of pairs, big-endian", "utf-16", "\xfe\xff\x00x\x00,\x00l\x00a\x00b\x00e\x00l\x00\n\x001\x00,\xd8\x3d\xde\x00\x00\n", "😀", ""},
		{"latin1 read as utf-8", "", "x,label\n" + long + "1,Zo\xeb\n", "", "line 40002, column 5 (byte 160012 from 0): 0xeb is not valid UTF-8"},
		{"cut at the end", "", "x,label\n1,Zo\xc3", "", "line 2, column 5 (byte 12 from 0): 0xc3 is not valid UTF-8"},
		{"utf-16 by its mark", "", "\xff\xfe" + utf16le("x,label\n1,b\n"), "b", ""},
		{"utf-16 read as latin1", "latin1", "\xff\xfe" + utf16le("x,label\n1,b\n"), "", "line 3: has another number of fields"},
		{"half a mark", "", "\xffx,label\n1,b\n", "", "line 1, column 1 (byte 0 from 0): 0xff"},
		{"no windows character", "windows-1252", "x,label\n1,\x81\n", "", "line 2, column 3 (byte 10 from 0): 0x81 is not valid WINDOWS-1252"},
		{"half a pair", "utf-16", utf16le("x,label\n1,") + "\x3d\xd8" + utf16le("b\n"), "", "line 2, column 3 (byte 20 from 0): 0x3d is not valid UTF-16"},
		{"cyrillic", "koi8-r", "x,label\n1,\xeb\xcf\xd4\n", "Кот", ""},
		{"japanese", "shift_jis", "x,label\n1,\x94\x4c\n", "猫", ""},
		{"half a japanese character", "shift_jis", "x,label\n1,a\n2,\x94\n3,b\n", "", "line 3, column 3 (byte 14 from 0): 0x94 is not valid SHIFT_JIS: save it as UTF-8, or give --encoding with the one it has (utf-8, latin1, windows-1252, utf-16)"},
		{"chinese, and the sign for what could not be decoded", "gb18030", "x,label\n1,\xc3\xa8\x84\x31\xa4\x37\n", "猫\ufffd", ""},
		{"four bytes a character", "utf-32le", "x\x00\x00\x00,\x00\x00\x00l\x00\x00\x00a\x00\x00\x00b\x00\x00\x00e\x00\x00\x00l\x00\x00\x00\n\x00\x00\x001\x00\x00\x00,\x00\x00\x00\x2b\x73\x00\x00\n\x00\x00\x00", "猫", ""},
		{"not in the set", "iso-8859-7", "x,label\n1,\xff\n", "", "0xff is not valid ISO-8859-7"},
		{"unknown", "ebcdic", "x,label\n", "", `encoding "ebcdic" is unknown`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := Read(t.Context(), strings.NewReader(tc.text), "a.csv", Options{Encoding: tc.encoding})
			switch {
			case tc.fault != "":
				if err == nil || !strings.Contains(err.Error(), tc.fault) {
					t.Fatalf("error %v, want %q", err, tc.fault)
				}
			case err != nil:
				t.Fatal(err)
			case got.Labels[len(got.Labels)-1] != tc.want:
				t.Errorf("label %q, want %q", got.Labels[len(got.Labels)-1], tc.want)
			}
		})
	}
}

// In every encoding letters are what they are in ASCII, so that tables can be cut at the ends
// of their lines, and text that is encoded in it is read again, in pieces of any size.
func TestEveryEncoding(t *testing.T) {
	for name, e := range encodings {
		text := "x,label\n1,"
		for _, r := range "aéßλЖ猫か한ğ€" {
			if _, err := e.NewEncoder().String(string(r)); err == nil {
				text += string(r)
			}
		}
		raw, err := e.NewEncoder().String(text)
		if err != nil {
			t.Fatal(name, err)
		}
		decoder, err := newTextDecoder(iotest.OneByteReader(strings.NewReader(raw)), name)
		if err != nil {
			t.Fatal(name, err)
		}
		if got, err := io.ReadAll(decoder); err != nil || string(got) != text {
			t.Errorf("%s: %q, %v, want %q", name, got, err, text)
		}
		if ascii := strings.HasPrefix(raw, "x,label\n1,"); ascii == strings.HasPrefix(name, "utf-") {
			t.Errorf("%s: lines are cut elsewhere", name)
		}
	}
}

// arrowFile writes a batch to a file.
func arrowFile(t *testing.T, fields []arrow.Field, columns []arrow.Array) string {
	t.Helper()
	rec := array.NewRecord(arrow.NewSchema(fields, nil), columns, int64(columns[0].Len()))
	defer rec.Release()
	var out bytes.Buffer
	w := ipc.NewWriter(&out, ipc.WithSchema(rec.Schema()))
	if err := errors.Join(w.Write(rec), w.Close()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.arrow")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A long text that is no path of a picture is not copied to see that, nor to see that it is no number.
func TestLongTextIsReadOnce(t *testing.T) {
	const size = 16 << 20
	long := arrowio.NewStringArray([]string{strings.Repeat("a", size), "b"})
	path := arrowFile(t, []arrow.Field{{Name: "t", Type: long.DataType()}}, []arrow.Array{long})
	for name, c := range map[string]struct {
		most int
		read func() error
	}{
		"for pictures": {size, func() error { Files(t.Context(), path); return nil }},
		"as a column": {3 * size, func() error { // the batch, its text, and the category
			_, err := Open(t.Context(), path, Options{Mixed: true})
			return err
		}},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := c.read(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		runtime.ReadMemStats(&after)
		if got := int(after.TotalAlloc - before.TotalAlloc); got > c.most+size/4 {
			t.Errorf("%s: %d MB were allocated, want %d", name, got>>20, c.most>>20)
		}
	}
}

// The columns of Arrow take memory beside their values.
func TestColumnsOfArrowAreOfTheBudget(t *testing.T) {
	var fields []arrow.Field
	var columns []arrow.Array
	for i := range 5000 {
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: arrow.PrimitiveTypes.Float32})
		columns = append(columns, arrowio.NewFloatArray([]float32{1, 2}))
	}
	path := arrowFile(t, fields, columns)
	_, err := Open(t.Context(), path, Options{Memory: arrowio.NewBudget(4 << 20)})
	if err == nil || !strings.Contains(err.Error(), "5000 columns: needs") || !strings.Contains(err.Error(), "--memory-limit") {
		t.Errorf("error %v", err)
	}
}

// Rows that are passed on in blocks take the memory of blocks, though a file says early how long it is.
func TestBlocksTakeNoRoomForAll(t *testing.T) {
	const rows = 1 << 18
	text := strings.NewReader("x,y,z,u,v\n" + strings.Repeat("1,2,3,4,5\n", rows))
	path := filepath.Join(t.TempDir(), "x.csv")
	out, err := os.Create(path)
	if err == nil {
		_, err = text.WriteTo(out)
	}
	if err = errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
	read := 0
	_, err = Open(t.Context(), path, Options{Each: func(b *Table) error {
		if room := cap(b.Features.Data); room > 2*blockValues {
			return fmt.Errorf("a block of %d rows has room for %d values, want %d at most", b.Features.Rows, room, 2*blockValues)
		}
		read += b.Features.Rows
		return nil
	}})
	if err != nil || read != rows {
		t.Errorf("%v, %d rows read", err, read)
	}
}
