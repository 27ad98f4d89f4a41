package arrowio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"
)

// roundTrip checks that a batch is read as it was written, by itself and with a piece of it.
func roundTrip(t *testing.T, name string, rec arrow.Record) {
	t.Helper()
	for _, kind := range kinds {
		got, err := readAll(write(t, kind, Compression{}, rec), ReadOptions{})
		if err != nil || len(got) != 1 || !array.RecordEqual(got[0], rec) {
			t.Errorf("%s, %s: got %v, %v", name, kind, got, err)
		}
	}
}

// Batches at the edge of what there may be.
func TestEdgesOfBatches(t *testing.T) {
	nothing := arrow.NewSchema(nil, nil)
	nulls := func(n int) arrow.Record { return columnRecord(array.NewNull(n)) }
	union := func(n int) arrow.DataType { return unionOf(t, n) }
	for name, rec := range map[string]arrow.Record{
		"no columns":                array.NewRecord(nothing, nil, 0),
		"values of no bytes":        oneColumn(t, &arrow.FixedSizeBinaryType{}, `["", null, ""]`),
		"a type as deep as allowed": emptyRecord(deepType(maxDepth)),
		"a union of 128":            emptyRecord(union(128)),
		"a schema of 200 KB":        longMetadata(200 << 10),
	} {
		roundTrip(t, name, rec)
	}
	run := func(n int) arrow.Record {
		return columnRecord(array.NewRunEndEncodedArray(NewIntArray([]int32{int32(n)}, nil), NewInt64Array([]int64{7}), n, 0))
	}
	for _, c := range []struct {
		rec     arrow.Record
		batches int
	}{{nulls(freeRows), 1}, {nulls(freeRows + 1), 2}, {run(freeRows), 1}, {run(2*freeRows + 1), 3}} {
		batches, rows, err := check(write(t, StreamKind, Compression{}, c.rec))
		if batches != c.batches || rows != c.rec.NumRows() || err != nil {
			t.Errorf("%d rows of few bytes: %d in %d batches, %v", c.rec.NumRows(), rows, batches, err)
		}
	}
	for want, rec := range map[string]arrow.Record{
		"batch 0: has rows but no columns":                        array.NewRecord(nothing, nil, 1),
		"batch 0: is damaged: it claims 16777217 rows in 0 bytes": nulls(freeRows + 1),
	} {
		var buf bytes.Buffer
		w := ipc.NewWriter(&buf, ipc.WithSchema(rec.Schema()))
		if err := errors.Join(w.Write(rec), w.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := readAll(buf.Bytes(), ReadOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// unionOf is a sparse union of n children whose codes are 0, 1 and so on.
func unionOf(t *testing.T, n int) arrow.DataType {
	t.Helper()
	fields, codes := make([]arrow.Field, n), make([]arrow.UnionTypeCode, n)
	for i := range fields {
		fields[i] = arrow.Field{Name: fmt.Sprint("f", i), Type: arrow.PrimitiveTypes.Int8, Nullable: true}
		codes[i] = arrow.UnionTypeCode(i)
	}
	return arrow.SparseUnionOf(fields, codes)
}

// longMetadata is a batch whose schema says so many bytes.
func longMetadata(n int) arrow.Record {
	meta := arrow.NewMetadata([]string{"user"}, []string{strings.Repeat("x", n)})
	a := NewInt64Array([]int64{1, 2, 3})
	return array.NewRecord(arrow.NewSchema([]arrow.Field{{Name: "x", Type: a.DataType()}}, &meta), []arrow.Array{a}, 3)
}

// Pieces of a batch are written from the row at which they begin, whether or not it is at a whole
// byte of bits.
func TestPiecesAtAnyRow(t *testing.T) {
	rec := recordOf(t, 40, func(row int) string {
		return []string{"true", "false", "null", "true", "true"}[row%5]
	}, arrow.FixedWidthTypes.Boolean)
	for beg := range int64(18) {
		roundTrip(t, fmt.Sprint("from row ", beg), rec.NewSlice(beg, beg+20))
	}
}

// The view of a null may be anything, also where views are written anew.
func TestViewOfNullIsWritten(t *testing.T) {
	for _, buffer := range []int32{-1, 1, 2} { // there is buffer 0 alone
		views := arrow.GetBytes([]int32{13, 0, 0, 0, 13, 0, buffer, 0})
		text := []byte(strings.Repeat("thirteen long", 20))
		copy(views[4:], text[:4])
		data := array.NewData(arrow.BinaryTypes.StringView, 2,
			[]*memory.Buffer{memory.NewBufferBytes([]byte{1}), memory.NewBufferBytes(views), memory.NewBufferBytes(text)}, nil, 1, 0)
		got, err := readAll(write(t, StreamKind, Compression{}, columnRecord(array.MakeFromData(data))), ReadOptions{})
		if err != nil {
			t.Errorf("buffer %d: %v", buffer, err)
			continue
		}
		words, err := StringColumn(got[0], "x")
		if err != nil || !reflect.DeepEqual(words, Strings{[]string{"thirteen long", ""}, []bool{true, false}}) {
			t.Errorf("buffer %d: %v, %v", buffer, words, err)
		}
	}
}

// A batch of 4 MB stays whole, one of a row more is cut, and so is one of few rows.
func TestWhereBatchesAreCut(t *testing.T) {
	for _, c := range []struct{ rows, width, batches int }{
		{1024, 1024, 1}, {1025, 1024, 5}, {2, 1 << 20, 2}, {1, 2 << 20, 1},
	} {
		v := Vectors{Rows: c.rows, Width: c.width, Data: make([]float32, c.rows*c.width)}
		records, err := readAll(write(t, StreamKind, Compression{}, columnRecord(NewVectorArray(v))), ReadOptions{})
		rows := int64(0)
		for _, rec := range records {
			rows += rec.NumRows()
		}
		if err != nil || len(records) != c.batches || rows != int64(c.rows) {
			t.Errorf("%d rows of %d: %d batches of %d rows, %v", c.rows, c.width, len(records), rows, err)
		}
	}
}

// messageOf is a message without content of this version and length of its body.
func messageOf(version int16, body int64) []byte {
	b := flatbuffers.NewBuilder(64)
	b.StartObject(1)
	header := b.EndObject()
	b.StartObject(4)
	b.PrependInt64Slot(3, body, 0)
	b.PrependUOffsetTSlot(2, header, 0)
	b.PrependInt16Slot(0, version, 0)
	b.PrependByteSlot(1, headerBatch, 0)
	b.Finish(b.EndObject())
	return b.FinishedBytes()
}

// Versions 4 and 5 of the format are read.
func TestVersions(t *testing.T) {
	for version, want := range map[int16]string{
		2: "is of metadata version 3, which is too old: write it with Arrow 0.15 or newer",
		3: "<nil>", 4: "<nil>",
		5: "is of metadata version 6, which is unknown: write version 5",
	} {
		var msg message
		if err := msg.parse(messageOf(version, 0)); fmt.Sprint(err) != want {
			t.Errorf("version %d: %v, want %s", version+1, err, want)
		}
		if want == "<nil>" && msg.current != (version == metadataV5) {
			t.Errorf("version %d is the one that writers use: %v", version+1, msg.current)
		}
	}
}

// A flatbuffer may be no longer than what it holds.
func TestSmallestTable(t *testing.T) {
	f := &flatbuffer{data: le32(4, 1<<32-4, 4|4<<16)} // the table, and behind it how it is laid out: no fields
	if root := f.root(); !root.present() || f.bad || root.slots != 0 {
		t.Errorf("got %+v, bad %v", root, f.bad)
	}
	f = &flatbuffer{data: le32(4, 1<<32-4, 6|4<<16)} // one field, of which nothing is there
	if root := f.root(); root.present() || !f.bad {
		t.Errorf("cut: got %+v", root)
	}
}

// Tables that many fields share do not make a schema larger than its bytes.
func TestSharedTablesAreBounded(t *testing.T) {
	for _, c := range []struct {
		fields, pairs int
		want          error
	}{{1, 1, nil}, {1000, 1, errDamaged}, {1, 1000, errDamaged}} {
		b := flatbuffers.NewBuilder(1024)
		shared := func(n int, one flatbuffers.UOffsetT) flatbuffers.UOffsetT {
			b.StartVector(4, n, 4)
			for range n {
				b.PrependUOffsetT(one)
			}
			return b.EndVector(n)
		}
		b.StartObject(2)
		pairs := shared(c.pairs, b.EndObject())
		b.StartObject(0)
		null := b.EndObject()
		b.StartObject(7)
		b.PrependUOffsetTSlot(3, null, 0)
		b.PrependByteSlot(2, typeNull, 0)
		fields := shared(c.fields, b.EndObject())
		b.StartObject(4)
		b.PrependUOffsetTSlot(2, pairs, 0)
		b.PrependUOffsetTSlot(1, fields, 0)
		b.Finish(b.EndObject())
		schema, _, err := decodeSchema((&flatbuffer{data: b.FinishedBytes()}).root())
		if err != c.want {
			t.Errorf("%d fields, %d pairs: %v, %v", c.fields, c.pairs, schema, err)
		}
	}
}

// A message's metadata may be in memory several times, within the limit.
func TestMetadataLimit(t *testing.T) {
	data := write(t, StreamKind, Compression{}, sampleRecord(t, 1))
	need := int64(binary.LittleEndian.Uint32(data[4:])) * metadataCopies
	for limit, refused := range map[int64]bool{need: false, need - 1: true} {
		r, err := NewReader(bytes.NewReader(data), "in", ReadOptions{Budget: NewBudget(limit)})
		var about *LimitError
		if errors.As(err, &about) != refused || refused && *about != (LimitError{need, limit}) {
			t.Errorf("limit %d: %v", limit, err)
		}
		if err == nil {
			r.Close()
		}
	}
}

// zeroBytes gives zeros without end.
type zeroBytes struct{}

func (zeroBytes) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// Metadata of 64 MB is read, more is refused.
func TestLongestMetadata(t *testing.T) {
	meta, err := schemaMessage(sampleRecord(t, 1).Schema())
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]string{
		maxMetadata:     "<nil>",
		maxMetadata + 8: "in: byte 0, batch 0: is damaged: a message claims 67108872 bytes of metadata: write it again with the program that made it",
	} {
		in := io.MultiReader(bytes.NewReader(le32(1<<32-1, uint32(n))), bytes.NewReader(meta), io.LimitReader(zeroBytes{}, int64(n-len(meta))))
		r, err := NewReader(in, "in", ReadOptions{Budget: NewBudget(maxMetadata * metadataCopies)})
		if fmt.Sprint(err) != want {
			t.Errorf("%d bytes: %v, want %s", n, err, want)
		}
		if err == nil {
			r.Close()
		}
	}
}

// What a file may have between its last message and its footer, and behind the footer's end.
func TestZerosInFiles(t *testing.T) {
	rec := sampleRecord(t, 2)
	data := write(t, FileKind, Compression{}, rec)
	tail := len(data) - tailSize
	footer := int(binary.LittleEndian.Uint32(data[tail:]))
	const mark = 8 // of the end, before the footer
	for _, c := range []struct {
		name         string
		gap, padding int
		want         string
	}{
		{"nothing", 0, 0, ""},
		{"most before the footer", maxMetadata - mark, 0, ""},
		{"more before the footer", maxMetadata - mark + 8, 0, "it leaves out the bytes from"},
		{"most in the footer", 0, maxMetadata - footer, ""},
		{"more in the footer", 0, maxMetadata - footer + 8, "its footer is not valid"},
	} {
		path := filepath.Join(t.TempDir(), "a.arrow")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		put := func(b []byte, at int) {
			if _, err := f.WriteAt(b, int64(at)); err != nil {
				t.Fatal(err)
			}
		}
		put(data[:tail-footer], 0)
		put(data[tail-footer:tail], tail-footer+c.gap)
		put(binary.LittleEndian.AppendUint32(nil, uint32(footer+c.padding)), tail+c.gap+c.padding)
		put([]byte(magic), tail+c.gap+c.padding+4)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := Open(path, ReadOptions{})
		if c.want != "" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if _, rows, err := Check(t.Context(), r); rows != 2 || err != nil {
			t.Errorf("%s: %d rows, %v", c.name, rows, err)
		}
		r.Close()
	}
}

// A file needs no end marker, and one without batches no schema but that of its footer.
func TestSparseFiles(t *testing.T) {
	rec := columnRecord(array.NewNull(5)) // no body, so that the footer follows the metadata
	data := write(t, FileKind, Compression{}, rec)
	footer := len(data) - tailSize - int(binary.LittleEndian.Uint32(data[len(data)-tailSize:]))
	meta, err := schemaMessage(rec.Schema())
	if err != nil {
		t.Fatal(err)
	}
	alone := footerOf(meta)
	for name, c := range map[string]struct {
		data []byte
		rows int64
	}{
		"no end marker": {append(bytes.Clone(data[:footer-8]), data[footer:]...), 5},
		"footer alone":  {append([]byte(headMagic), alone...), 0},
	} {
		if _, rows, err := check(c.data); rows != c.rows || err != nil {
			t.Errorf("%s: %d rows, %v", name, rows, err)
		}
	}
}

// footerOf is the footer of a file without batches.
func footerOf(schema []byte) []byte {
	f := footer{schema: schema}
	return f.encode()
}

// An input that can seek is read from where it stands.
func TestReadFromTheMiddle(t *testing.T) {
	for _, kind := range kinds {
		data := write(t, kind, Compression{}, sampleRecord(t, 7))
		in := bytes.NewReader(append([]byte("what came before"), data...))
		if _, err := in.Seek(16, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		r, err := NewReader(in, "in", ReadOptions{})
		if err != nil {
			t.Errorf("%s: %v", kind, err)
			continue
		}
		if _, rows, err := Check(t.Context(), r); rows != 7 || err != nil {
			t.Errorf("%s: %d rows, %v", kind, rows, err)
		}
		if _, all := r.Progress(); all != int64(len(data)) {
			t.Errorf("%s: %d bytes of %d", kind, all, len(data))
		}
		r.Close()
	}
}

// What a compressed buffer may claim.
func TestClaimedLength(t *testing.T) {
	claim := func(n int64, more int) []byte {
		return append(binary.LittleEndian.AppendUint64(nil, uint64(n)), make([]byte, more)...)
	}
	for _, c := range []struct {
		src   []byte
		codec int
		want  int
		err   string
	}{
		{nil, codecLZ4, 0, ""},
		{make([]byte, 7), codecLZ4, 0, "is damaged: a compressed buffer has no length"},
		{claim(0, 0), codecLZ4, 0, ""},
		{claim(-1, 0), codecZstd, 0, ""},
		{claim(-1, 5), codecZstd, 5, ""},
		{claim(-2, 5), codecZstd, 0, "is damaged: a compressed buffer of 5 bytes claims -2"},
		{claim(2*maxRatioLZ4, 2), codecLZ4, 2 * maxRatioLZ4, ""},
		{claim(2*maxRatioLZ4+1, 2), codecLZ4, 0, "is damaged: a compressed buffer of 2 bytes claims 511"},
		{claim(2*maxRatioZstd, 2), codecZstd, 2 * maxRatioZstd, ""},
		{claim(2*maxRatioZstd+1, 2), codecZstd, 0, "is damaged: a compressed buffer of 2 bytes claims 131073"},
	} {
		got, err := claimedLength(c.src, c.codec)
		if got != c.want || (err != nil || c.err != "") && fmt.Sprint(err) != c.err {
			t.Errorf("%v: %d, %v, want %d, %s", c.src, got, err, c.want, c.err)
		}
	}
}

// What is decompressed and what it comes from are in memory together.
func TestDecompressionLimit(t *testing.T) {
	const size, packed = 1 << 20, slabUnit
	rec := columnRecord(NewFloatArray(make([]float32, size/4)))
	data := write(t, StreamKind, Compression{Codec: Zstd}, rec)
	for limit, refused := range map[int64]bool{size: true, size + packed - 1: true, size + packed: false} {
		records, err := readAll(data, ReadOptions{Budget: NewBudget(limit)})
		var about *LimitError
		if errors.As(err, &about) != refused || refused && about.Need <= about.Limit || !refused && len(records) != 1 {
			t.Errorf("limit %d: %v", limit, err)
		}
		for _, rec := range records {
			rec.Release()
		}
	}
}

// A body that grows as it comes stays within the limit.
func TestGrowingBodyStaysInLimit(t *testing.T) {
	rec := columnRecord(NewFloatArray(make([]float32, 1<<20))) // 4 MB, and in the message more
	data := write(t, StreamKind, Compression{}, rec)
	at := beginOf(t, data, 1)
	data = bodyLength(t, data[:len(data)-8], at, 5<<20)
	r, err := NewReader(once(append(data, make([]byte, 1<<20)...)), "in", ReadOptions{Budget: NewBudget(6 << 20)})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var about *LimitError
	if _, err := r.Next(); !errors.As(err, &about) || about.Limit != 6<<20 {
		t.Errorf("got %v", err)
	}
}

// Memory that lies idle makes room for what is needed.
func TestIdleMemoryMakesRoom(t *testing.T) {
	budget := NewBudget(3 * slabUnit)
	p := newPool(allocator, budget)
	small, err := p.get(slabUnit)
	if err != nil {
		t.Fatal(err)
	}
	p.put(small)
	large, err := p.get(3 * slabUnit)
	if err != nil || len(large.data) != 3*slabUnit || budget.Used() != 3*slabUnit {
		t.Errorf("%v, %d bytes are used", err, budget.Used())
	}
}

// A dictionary grows up to the limit.
func TestDictionaryLimit(t *testing.T) {
	values := NewInt64Array([]int64{1, 2, 3}).Data() // 24 bytes
	for limit, refused := range map[int64]bool{48: false, 47: true} {
		d := &dictionary{values: &layout{path: "x", dt: arrow.PrimitiveTypes.Int64}, data: values}
		values.Retain() // for d
		values.Retain() // for what is added
		err := d.extend(values, limit)
		if (err != nil) != refused || refused != (d.len() == 3) {
			t.Errorf("limit %d: %d values, %v", limit, d.len(), err)
		}
	}
}

// Paths in errors have up to 100 bytes.
func TestLongPath(t *testing.T) {
	for name, want := range map[string]string{
		strings.Repeat("x", 98):        "a." + strings.Repeat("x", 98),
		strings.Repeat("x", 99):        "a." + strings.Repeat("x", 98) + "…",
		strings.Repeat("x", 97) + "é!": "a." + strings.Repeat("x", 97) + "…",
	} {
		if got := joinPath("a", name); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// Rows and their numbers at the edge.
func TestEdgesOfColumns(t *testing.T) {
	if (Vectors{Rows: 1}).Missing(0) {
		t.Error("a row of no elements is missing")
	}
	nan := float32(math.NaN())
	if AreFinite([]float32{nan, 1}) || !AreFinite([]float32{1}) || !AreFinite(nil) {
		t.Error("AreFinite")
	}
	if text := (&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}); !IsText(text) {
		t.Error("a dictionary of text is no text")
	}
	rec := sampleRecord(t, 3)
	schema := WithColumns(rec.Schema(), arrow.Field{Name: "id", Type: arrow.PrimitiveTypes.Int32})
	out, err := AppendColumns(rec, schema, Column{"id", NewIntArray([]int32{7, 8, 9}, nil)})
	if err != nil || fieldNames(out.Schema()) != "id, domain, label, features" || fmt.Sprint(out.Column(0)) != "[7 8 9]" {
		t.Errorf("the first column replaced: %v, %v", out, err)
	}
}

func TestBatchesAreReadAgain(t *testing.T) {
	rec := sampleRecord(t, 2)
	b := NewBatches("in", rec.Schema(), rec, rec)
	for range 2 {
		if batches, rows, err := Check(t.Context(), b); batches != 2 || rows != 4 || err != nil {
			t.Errorf("%d batches, %d rows, %v", batches, rows, err)
		}
		if err := b.Rewind(); err != nil {
			t.Fatal(err)
		}
	}
}

// A spool holds as much as it may, to the byte.
func TestSpoolLimit(t *testing.T) {
	rec := sampleRecord(t, 3)
	size := int64(recordSize(rec))
	for memory, spills := range map[int64]bool{2 * size: false, 2*size - 1: true} {
		s := NewSpool(struct{ Stream }{NewBatches("in", rec.Schema(), rec, rec)}, memory)
		if _, rows, err := Check(t.Context(), s); rows != 6 || err != nil || (s.file != nil) != spills {
			t.Errorf("%d bytes for %d: in a file is %v, %d rows, %v", memory, 2*size, s.file != nil, rows, err)
		}
		s.Close()
	}
}

// Of a batch that is written in parts, the first part that a disk has no room for is the error.
func TestPartsOnAFullDisk(t *testing.T) {
	rec := columnRecord(array.NewNull(2*freeRows + 1))
	whole := len(write(t, StreamKind, Compression{}, rec))
	for left := range whole - 8 { // of which Close writes the last 8
		w := NewWriter(&fullDisk{left}, "out", WriteOptions{})
		if w.Begin(rec.Schema()) == nil && w.Write(rec) == nil {
			t.Errorf("of %d bytes a disk has room for %d, and nothing is said", whole, left)
		}
	}
}
