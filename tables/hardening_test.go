package tables

import (
	"bytes"
	"context"
	"encoding/binary"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"mars.dev/mars/arrowio"
)

// What pages of Parquet may hold that is damaged. The cases are those that later versions of
// arrow-go than the one that reads here were mended for (its pull requests 943, 944, 953, 1011,
// 1012, 1013, 1014 and 1015).

// A testPage is one of Parquet that is written byte by byte.
type testPage struct {
	two        bool // of version 2
	dictionary bool
	values     int
	encoding   int
	size       int // that it claims to have unpacked; 0: what it has
	levels     int // of version 2: the length of its definition levels
	nulls      int
	payload    []byte
}

// Encodings of Parquet.
const (
	encPlain, encRLE, encDelta, encDeltaLength, encDeltaBytes, encDictionary = 0, 3, 5, 6, 7, 8
)

func uvarint(v uint64) []byte { return binary.AppendUvarint(nil, v) }
func zigzag(v int64) []byte   { return binary.AppendVarint(nil, v) }

// thriftInts writes a struct of Thrift's compact protocol with i32 in fields 1, 2, ….
func thriftInts(values ...int) (out []byte) {
	for _, v := range values {
		out = append(append(out, 0x15), zigzag(int64(v))...)
	}
	return out
}

// bytes is the page with its header.
func (p testPage) bytes() []byte {
	kind, size := 0, len(p.payload)
	if p.size != 0 {
		size = p.size
	}
	switch {
	case p.dictionary:
		kind = 2
	case p.two:
		kind = 3
	}
	out := thriftInts(kind, size, len(p.payload))
	switch {
	case p.dictionary:
		out = append(append(out, 0x4c), thriftInts(p.values, encPlain)...) // field 7
	case p.two:
		out = append(append(out, 0x5c), thriftInts(p.values, p.nulls, p.values, p.encoding, p.levels, 0)...) // field 8
		out = append(out, 0x12)                                                                              // not compressed
	default:
		out = append(append(out, 0x2c), thriftInts(p.values, p.encoding, encRLE, encRLE)...) // field 5
	}
	return append(append(out, 0, 0), p.payload...)
}

// pagesOf is a Parquet file of one column of rows values, whose pages are replaced.
func pagesOf(t *testing.T, kind arrow.DataType, nullable bool, rows int, pages ...testPage) []byte {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: kind, Nullable: nullable}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := range rows {
		switch f := b.Field(0).(type) {
		case *array.StringBuilder:
			f.Append(strings.Repeat("room for the pages ", 20))
		case *array.Int32Builder:
			f.Append(int32(i))
		case *array.Int64Builder:
			f.Append(int64(i))
		case *array.BooleanBuilder:
			f.Append(true)
		}
	}
	rec := b.NewRecord()
	defer rec.Release()
	var stored bytes.Buffer
	properties := parquet.NewWriterProperties(parquet.WithDictionaryDefault(false), parquet.WithStats(false), parquet.WithCompression(compress.Codecs.Uncompressed))
	w, err := pqarrow.NewFileWriter(schema, &stored, properties, pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(rec); err != nil {
		t.Fatal(err)
	}
	w.Close()
	data := stored.Bytes()
	at := 4
	for _, p := range pages {
		at += copy(data[at:], p.bytes())
	}
	return data
}

// levelsOf are definition levels of n values, all there, in a run of RLE, with their length.
func levelsOf(n int) []byte {
	run := append(uvarint(uint64(n)<<1), 1)
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(run))), run...)
}

// deltaOf is a header of delta-encoded numbers.
func deltaOf(block, miniblocks, count uint64, first int64) []byte {
	return append(append(append(uvarint(block), uvarint(miniblocks)...), uvarint(count)...), zigzag(first)...)
}

// deltas are n numbers, each as far from the one before.
func deltas(n int, first, step int64) []byte {
	out := deltaOf(128, 4, uint64(n), first)
	for left := n - 1; left > 0; left -= 128 {
		out = append(append(out, zigzag(step)...), 0, 0, 0, 0)
	}
	return out
}

// join is parts one after another.
func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func TestDamagedPages(t *testing.T) {
	const n = 200
	texts, ints, longs, bools := arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.FixedWidthTypes.Boolean
	words := testPage{dictionary: true, values: 2, payload: []byte("\x01\x00\x00\x00a\x01\x00\x00\x00b")}
	indices := func(width byte, runs ...[]byte) testPage {
		return testPage{values: n, encoding: encDictionary, payload: append([]byte{width}, join(runs...)...)}
	}
	run := func(count uint64, value ...byte) []byte { return append(uvarint(count<<1), value...) }
	packed := func(groups uint64, bytes ...byte) []byte { return append(uvarint(groups<<1|1), bytes...) }
	zeros := func(n int) []byte { return make([]byte, n) }
	for _, tc := range []struct {
		name     string
		kind     arrow.DataType
		nullable bool
		pages    []testPage
		right    bool // it is no damage
	}{
		{"plain numbers", longs, false, []testPage{{values: n, payload: zeros(8 * n)}}, true},
		{"delta numbers", longs, false, []testPage{{values: n, encoding: encDelta, payload: deltas(n, 5, 3)}}, true},
		{"delta lengths", texts, false, []testPage{{values: n, encoding: encDeltaLength, payload: join(deltas(n, 1, 0), bytes.Repeat([]byte("a"), n))}}, true},
		{"delta bytes", texts, false, []testPage{{values: n, encoding: encDeltaBytes, payload: join(deltas(n, 0, 0), deltas(n, 1, 0), bytes.Repeat([]byte("a"), n))}}, true},
		{"a dictionary", texts, false, []testPage{words, indices(1, run(n, 1))}, true},
		{"levels", longs, true, []testPage{{values: n, payload: join(levelsOf(n), zeros(8*n))}}, true},
		{"levels of version 2", longs, true, []testPage{{two: true, values: n, levels: 3, payload: join(levelsOf(n)[4:], zeros(8*n))}}, true},

		{"a page that claims 2 GB", longs, false, []testPage{{values: n, size: 1<<31 - 1, payload: zeros(8 * n)}}, false},
		{"a page that claims less than 0", longs, false, []testPage{{values: n, size: -5, payload: zeros(8 * n)}}, false},
		{"a page of too few bytes", longs, false, []testPage{{values: n, payload: zeros(8*n - 9)}}, false},
		{"a page of more values than there are rows", longs, false, []testPage{{values: 1 << 12, payload: zeros(8 * n)}}, true},
		{"a page of less than no values", longs, false, []testPage{{values: -1, payload: zeros(8 * n)}}, false},

		{"delta: a block of no values", longs, false, []testPage{{values: n, encoding: encDelta, payload: deltaOf(0, 4, n, 0)}}, false},
		{"delta: a block that is no multiple of 128", longs, false, []testPage{{values: n, encoding: encDelta, payload: join(deltaOf(100, 4, n, 0), zeros(500))}}, false},
		{"delta: no miniblocks", longs, false, []testPage{{values: n, encoding: encDelta, payload: join(deltaOf(128, 0, n, 0), zeros(500))}}, false},
		{"delta: miniblocks that do not divide the block", longs, false, []testPage{{values: n, encoding: encDelta, payload: join(deltaOf(128, 3, n, 0), zeros(500))}}, false},
		{"delta: 2⁶⁰ miniblocks", longs, false, []testPage{{values: n, encoding: encDelta, payload: join(deltaOf(128, 1<<60, n, 0), zeros(500))}}, false},
		{"delta: a block of 2⁶²", longs, false, []testPage{{values: n, encoding: encDelta, payload: join(deltaOf(1<<62, 1<<40, n, 0), zeros(500))}}, false},
		{"delta: fewer values than the page", longs, false, []testPage{{values: n, encoding: encDelta, payload: deltas(n/2, 5, 3)}}, false},
		{"delta: a width of 65 bits", longs, false, []testPage{{values: n, encoding: encDelta, payload: join(deltaOf(128, 4, n, 0), zigzag(0), []byte{65, 0, 0, 0}, zeros(900))}}, false},
		{"delta: a width of 255 bits", longs, false, []testPage{{values: n, encoding: encDelta, payload: join(deltaOf(128, 4, n, 0), zigzag(0), []byte{255, 0, 0, 0}, zeros(1100))}}, false},
		{"delta: a width of 33 bits in 32", ints, false, []testPage{{values: n, encoding: encDelta, payload: join(deltaOf(128, 4, n, 0), zigzag(0), []byte{33, 0, 0, 0}, zeros(132), zigzag(0), []byte{0, 0, 0, 0})}}, true},
		{"delta: a first value of 33 bits in 32", ints, false, []testPage{{values: n, encoding: encDelta, payload: deltas(n, 1<<33, 0)}}, false},
		{"delta: an end within a miniblock", longs, false, []testPage{{values: n, encoding: encDelta, payload: join(deltaOf(128, 4, n, 0), zigzag(0), []byte{8, 8, 8, 8}, zeros(40))}}, false},

		{"lengths below 0", texts, false, []testPage{{values: n, encoding: encDeltaLength, payload: join(deltas(n, -1, 0), zeros(n))}}, false},
		{"lengths beyond the page", texts, false, []testPage{{values: n, encoding: encDeltaLength, payload: join(deltas(n, 9, 0), zeros(n))}}, false},
		{"a length of 2 GB", texts, false, []testPage{{values: n, encoding: encDeltaLength, payload: join(deltas(n, 1<<31-1, 0), zeros(n))}}, false},
		{"fewer lengths than values", texts, false, []testPage{{values: n, encoding: encDeltaLength, payload: join(deltas(n/2, 1, 0), zeros(n))}}, false},
		{"a prefix before the first", texts, false, []testPage{{values: n, encoding: encDeltaBytes, payload: join(deltas(n, 1, 0), deltas(n, 1, 0), zeros(n))}}, false},
		{"prefixes below 0", texts, false, []testPage{{values: n, encoding: encDeltaBytes, payload: join(deltas(n, 0, -1), deltas(n, 1, 0), zeros(n))}}, false},
		{"prefixes longer than what was before", texts, false, []testPage{{values: n, encoding: encDeltaBytes, payload: join(deltas(n, 0, 5), deltas(n, 1, 0), zeros(n))}}, false},
		{"fewer suffixes than prefixes", texts, false, []testPage{{values: n, encoding: encDeltaBytes, payload: join(deltas(n, 0, 0), deltas(n/2, 1, 0), zeros(n))}}, false},

		{"an index that is not in the dictionary", texts, false, []testPage{words, indices(2, run(n, 3))}, false},
		{"an index of 2³¹", texts, false, []testPage{words, indices(32, run(n, 255, 255, 255, 127))}, false},
		{"indices of 33 bits", texts, false, []testPage{words, indices(33, run(n, 0, 0, 0, 0, 0))}, false},
		{"indices of 255 bits", texts, false, []testPage{words, indices(255, packed(25, zeros(800)...))}, false},
		{"fewer indices than values", texts, false, []testPage{words, indices(1, run(n/2, 1))}, false},
		{"packed indices that end early", texts, false, []testPage{words, indices(1, packed(25, 255, 255))}, false},
		{"a run of no values", texts, false, []testPage{words, indices(1, run(0, 1), run(0, 1))}, false},
		{"a run of 2⁶⁰ values", texts, false, []testPage{words, indices(1, run(1<<60, 1))}, false},
		{"indices without a dictionary", texts, false, []testPage{indices(1, run(n, 1))}, false},
		{"two dictionaries", texts, false, []testPage{words, words, indices(1, run(n, 1))}, false},
		{"a dictionary of 2³⁰ words", texts, false, []testPage{{dictionary: true, values: 1 << 30, payload: words.payload}, indices(1, run(n, 1))}, false},

		{"levels that claim more than the page", longs, true, []testPage{{values: n, payload: join([]byte{255, 255, 255, 127}, levelsOf(n)[4:], zeros(8*n))}}, false},
		{"levels that claim less than 0", longs, true, []testPage{{values: n, payload: join([]byte{255, 255, 255, 255}, levelsOf(n)[4:], zeros(8*n))}}, false},
		{"levels that end before their run", longs, true, []testPage{{values: n, payload: join([]byte{1, 0, 0, 0}, levelsOf(n)[4:], zeros(8*n))}}, false},
		{"levels of fewer values", longs, true, []testPage{{values: n, payload: join(levelsOf(n/2), zeros(8*n))}}, false},
		{"levels of version 2 that claim more than the page", longs, true, []testPage{{two: true, values: n, levels: 1 << 20, payload: join(levelsOf(n)[4:], zeros(8*n))}}, false},
		{"levels of version 2 that claim less than 0", longs, true, []testPage{{two: true, values: n, levels: -1, payload: join(levelsOf(n)[4:], zeros(8*n))}}, false},
		{"levels of version 2 that end before their run", longs, true, []testPage{{two: true, values: n, levels: 1, payload: join(levelsOf(n)[4:], zeros(8*n))}}, false},

		{"booleans of too few bytes", bools, false, []testPage{{values: n, payload: zeros(n/8 - 9)}}, false},
		{"booleans in a run that is cut", bools, false, []testPage{{values: n, encoding: encRLE, payload: join([]byte{1, 0, 0, 0}, run(n, 1))}}, false},
		{"booleans whose runs claim more than the page", bools, false, []testPage{{values: n, encoding: encRLE, payload: join([]byte{255, 255, 255, 127}, run(n, 1))}}, false},
		{"packed booleans that end early", bools, false, []testPage{{values: n, encoding: encRLE, payload: join([]byte{3, 0, 0, 0}, packed(25, 255, 255))}}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			data := pagesOf(t, tc.kind, tc.nullable, n, tc.pages...)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			begin := time.Now()
			got, err := Read(context.Background(), bytes.NewReader(data), "x.parquet", Options{Mixed: true, Categorical: nil, Memory: arrowio.NewBudget(64 << 20)})
			runtime.ReadMemStats(&after)
			if took := time.Since(begin); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 96<<20 {
				t.Errorf("allocated %d MB", allocated>>20)
			}
			switch {
			case tc.right && err != nil:
				t.Error(err)
			case tc.right && got.Features.Rows != n:
				t.Errorf("%d rows, want %d", got.Features.Rows, n)
			case !tc.right && err == nil:
				t.Errorf("is read as %v …", got.Features.Data[:10])
			case !tc.right && (!strings.HasPrefix(err.Error(), "x.parquet: ") || strings.Contains(err.Error(), "goroutine ")):
				t.Error(err)
			}
		})
	}
}
