package arrowio

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// bufferAt is where buffer i of the only batch of a stream lies in it.
func bufferAt(t *testing.T, data []byte, i int) int {
	t.Helper()
	r := newReader(t, data)
	rec, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	b := rec.(*batch)
	return int(r.offset) + 8 + padded(len(b.meta)) + b.spans[i].off
}

func le32(values ...uint32) []byte {
	var out []byte
	for _, v := range values {
		out = binary.LittleEndian.AppendUint32(out, v)
	}
	return out
}

// Every rule of validation. A column of the zoo, with bytes put into one of its
// buffers at an offset, is refused for the reason given.
func TestValidation(t *testing.T) {
	for _, c := range []struct {
		dt     string
		buffer int
		at     int
		bytes  []byte
		want   string
	}{
		{"int8", 0, 0, []byte{0xff}, "0 nulls in its validity bitmap, but says 1"},
		{"bool", 0, 0, []byte{0}, "5 nulls in its validity bitmap"},
		{"utf8", 1, 0, le32(1<<31 + 5), "starts at -"},
		{"utf8", 1, 8, le32(0), "row 1: ends at 0, before its start at 1"},
		{"utf8", 1, 20, le32(1000), "row 4: ends at 1000, its values end at"},
		{"utf8", 2, 0, []byte{0xff}, "is not UTF-8"},
		{"utf8", 1, 12, le32(3), "is not UTF-8"}, // in the middle of é
		{"binary", 1, 4, le32(1 << 30), "before its start"},
		{"large_utf8", 1, 16, le32(0), "row 1: ends at 0, before its start at 1"},
		{"string_view", 1, 64, le32(1 << 31), "row 4: has length -"},
		{"string_view", 1, 72, le32(9), "row 4: is in buffer 9 of 1"},
		{"string_view", 1, 72, le32(1), "row 4: is in buffer 1 of 1"},
		{"string_view", 1, 76, le32(20), "row 4: takes 24 bytes at 20 of"},
		{"string_view", 1, 68, []byte("abcd"), "row 4: does not begin with its prefix"},
		{"string_view", 1, 4, []byte{0xff}, "row 0: is not UTF-8"},
		{"list<item: float32, nullable>", 1, 20, le32(100), "row 4: ends at 100, its values end at 5"},
		{"list_view<item: int16, nullable>", 1, 0, le32(100), "row 0: takes 2 elements at 100 of"},
		{"list_view<item: int16, nullable>", 2, 0, le32(1 << 31), "row 0: takes -"},
		{"sparse_union<i: type=int32, nullable=3, s: type=utf8, nullable=7>", 0, 2, []byte{4}, "row 2: has type code 4"},
		{"dense_union<i: type=int32, nullable=3, s: type=utf8, nullable=7>", 0, 0, []byte{200}, "row 0: has type code -56"},
		{"dense_union<i: type=int32, nullable=3, s: type=utf8, nullable=7>", 1, 4, le32(2), "row 1: is value 2 of 2"},
		{"dictionary<values=utf8, indices=int8, ordered=false>", 1, 0, []byte{3}, "row 0: refers to value 3 of a dictionary of 3"},
		{"dictionary<values=utf8, indices=int8, ordered=false>", 1, 0, []byte{255}, "row 0: refers to value -1"},
		{"run_end_encoded<run_ends: int32, values: utf8>", 1, 0, le32(0), "run 0: ends at 0"},
		{"run_end_encoded<run_ends: int32, values: utf8>", 1, 8, le32(4), "has runs up to 4 of 5 values"},
	} {
		data := write(t, StreamKind, Compression{}, zooColumn(t, zooIndex(t, c.dt)))
		copy(data[bufferAt(t, data, c.buffer)+c.at:], c.bytes)
		_, err := readAll(data, ReadOptions{})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "batch 0, column \"c") {
			t.Errorf("%s, buffer %d: got %v, want %q", c.dt, c.buffer, err, c.want)
		}
	}
}

func zooIndex(t *testing.T, dt string) int {
	t.Helper()
	for i, z := range zoo {
		if z.dt.String() == dt {
			return i
		}
	}
	t.Fatalf("no %s in the zoo", dt)
	return 0
}

// editMeta changes each number from in the batch's metadata to another, one at
// a time, and expects that every such input is an error; want is among them.
func editMeta(t *testing.T, data []byte, from, to uint64, want string) {
	t.Helper()
	r := newReader(t, data)
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	found := false
	start := int(r.offset) + 8
	for at := start; at <= start+len(r.last.meta)-8; at += 4 {
		if binary.LittleEndian.Uint64(data[at:]) != from {
			continue
		}
		out := bytes.Clone(data)
		binary.LittleEndian.PutUint64(out[at:], to)
		if _, err := readAll(out, ReadOptions{}); err != nil && strings.Contains(err.Error(), want) {
			found = true
		}
	}
	if !found {
		t.Errorf("no %d that becomes %d is refused with %q", from, to, want)
	}
}

func TestMetadataValidation(t *testing.T) {
	ints := write(t, StreamKind, Compression{}, zooColumn(t, zooIndex(t, "uint64")))
	editMeta(t, ints, 5, 4, "has 4 rows, the batch has 5")
	editMeta(t, ints, 5, 5<<40, "rows in 64 bytes")
	editMeta(t, ints, 5, 1<<64-5, "claims -5 rows")
	editMeta(t, ints, 40, 32, "has a buffer of 32 bytes for 5 values of 64 bits")
	editMeta(t, ints, 40, 80, "is not within the body of 64 bytes")
	for dt, cut := range map[string]struct {
		from, to uint64
		want     string
	}{
		"list_view<item: int16, nullable>": {20, 16, "has a buffer of 16 bytes for 5 values of 32 bits"},
		"string_view":                      {80, 64, "has a buffer of 64 bytes for 5 values of 128 bits"},
		"sparse_union<i: type=int32, nullable=3, s: type=utf8, nullable=7>": {5, 4, "has a buffer of 4 bytes for 5 values of 8 bits"},
	} {
		editMeta(t, write(t, StreamKind, Compression{}, zooColumn(t, zooIndex(t, dt))), cut.from, cut.to, cut.want)
	}
	nulls := write(t, StreamKind, Compression{}, zooColumn(t, zooIndex(t, "null")))
	editMeta(t, nulls, 5, 1<<50, "rows in 0 bytes")
	lists := write(t, StreamKind, Compression{}, zooColumn(t, zooIndex(t, "fixed_size_list<item: float32, nullable>[2]")))
	editMeta(t, lists, 10, 9, "has 9 elements for 5 values of 2 each")
	editMeta(t, lists, 10, 12, "has 12 elements for 5 values of 2 each")
}

// A batch that does not count its nulls goes out with their number.
func TestUnknownNullCount(t *testing.T) {
	want := writeWhole(t, StreamKind, Compression{}, zooColumn(t, zooIndex(t, "int8"))) // of which one is null
	r := newReader(t, want)
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	counted := 0
	for at := int(r.offset) + 8; at < int(r.offset)+8+len(r.last.meta); at += 8 {
		data := bytes.Clone(want[:len(want)-trailerSize])
		if binary.LittleEndian.Uint64(data[at:]) != 1 {
			continue
		}
		binary.LittleEndian.PutUint64(data[at:], 1<<64-1)
		var out bytes.Buffer
		err := Copy(t.Context(), NewWriter(&out, "out", WriteOptions{}), newReader(t, data))
		if err == nil && bytes.Equal(out.Bytes(), want) {
			counted++
		} else if err == nil {
			t.Errorf("the number at %d is passed on", at)
		}
	}
	if counted != 1 {
		t.Errorf("%d numbers are the count", counted)
	}
}

// Slots that are null may hold anything: dictionary indices, views.
func TestNullSlotsMayHoldAnything(t *testing.T) {
	for _, c := range []struct {
		dt    string
		at    int
		bytes []byte
	}{
		{"dictionary<values=utf8, indices=int8, ordered=false>", 2, []byte{99}},
		{"string_view", 16, le32(1<<31-1, 0, 7, 7)},
	} {
		data := write(t, StreamKind, Compression{}, zooColumn(t, zooIndex(t, c.dt)))
		copy(data[bufferAt(t, data, 1)+c.at:], c.bytes)
		records, err := readAll(data, ReadOptions{})
		if err != nil {
			t.Errorf("%s: %v", c.dt, err)
			continue
		}
		touch(records[0])
	}
}

// A batch may come without its dictionary only where it refers to nothing in it.
func TestMissingDictionary(t *testing.T) {
	data := dictionaryStream(t, false)
	r := newReader(t, data)
	start := int(r.messages.(*stream).offset)
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	without := append(bytes.Clone(data[:start]), data[r.offset:]...)
	_, err := readAll(without, ReadOptions{})
	if err == nil || !strings.Contains(err.Error(), "of a dictionary of 0") {
		t.Errorf("got %v", err)
	}
	for _, z := range zoo {
		if strings.Contains(z.dt.String(), "dictionary") {
			continue // has two
		}
		words, indices := array.NewBuilder(allocator, z.dt).NewArray(), array.MakeArrayOfNull(allocator, arrow.PrimitiveTypes.Int32, 2)
		dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: z.dt}
		nulls := columnRecord(array.NewDictionaryArray(dt, indices, words))
		data := write(t, StreamKind, Compression{}, nulls)
		records, err := readAll(append(bytes.Clone(data[:beginOf(t, data, 1)]), data[beginOf(t, data, 2):]...), ReadOptions{})
		if err != nil || len(records) != 1 || !array.RecordEqual(records[0], nulls) {
			t.Errorf("nulls of a dictionary of %s: got %v, %v", z.dt, records, err)
		}
	}
}
