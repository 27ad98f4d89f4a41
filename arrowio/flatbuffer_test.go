package arrowio

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	flatbuffers "github.com/google/flatbuffers/go"
)

func TestFlatbufferStaysInBounds(t *testing.T) {
	for _, data := range [][]byte{
		nil, {1}, {0, 0, 0, 0}, {255, 255, 255, 255}, {4, 0, 0, 0, 0, 0, 0, 128},
		bytes.Repeat([]byte{4}, 64), bytes.Repeat([]byte{255}, 64),
	} {
		f := &flatbuffer{data: data}
		root := f.root()
		for i := range 4 {
			_, _ = root.text(i), root.int64(i)
			_, n := root.vector(i, 16)
			ts := root.tables(i)
			for k := range min(ts.n, 4) {
				ts.at(k).text(0)
			}
			_ = n
		}
		if root.present() && !f.bad {
			t.Errorf("%v is taken for a flatbuffer", data)
		}
	}
}

// Overlapping strings would let a small schema take all memory.
func TestSchemaTextIsBounded(t *testing.T) {
	var fields []arrow.Field
	long := strings.Repeat("x", 1<<20)
	for range 2000 {
		fields = append(fields, arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int8})
	}
	fields[0].Name = long
	meta, err := schemaMessage(arrow.NewSchema(fields, nil))
	if err != nil {
		t.Fatal(err)
	}
	// Every word of the long name reads as a length of 512 KB, and every field's
	// name is made to begin at another of them.
	at := bytes.Index(meta, []byte(long))
	for i := 0; i+4 <= 1<<20; i += 4 {
		binary.LittleEndian.PutUint32(meta[at+i:], 1<<19)
	}
	var msg message
	if err := msg.parse(meta); err != nil {
		t.Fatal(err)
	}
	fs := msg.header.tables(1)
	moved := 0
	for k := range fs.n {
		if name := fs.at(k).field(0, 4); name != 0 && name < at {
			binary.LittleEndian.PutUint32(meta[name:], uint32(at+4*k-name))
			moved++
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _, err = decodeSchema(msg.header)
	runtime.ReadMemStats(&after)
	if spent := after.TotalAlloc - before.TotalAlloc; err == nil || moved < 1000 || spent > 64<<20 {
		t.Errorf("%v, %d names moved, %d MB", err, moved, spent>>20)
	}
}

// A message with a body that no file has is refused before memory for it is asked.
func TestSizeOfBodyIsBounded(t *testing.T) {
	for _, c := range []struct {
		body int64
		fits bool
	}{{0, true}, {1 << 47, true}, {1<<47 + 1, false}, {-1, false}} {
		b := flatbuffers.NewBuilder(64)
		b.StartObject(1)
		header := b.EndObject()
		b.StartObject(4)
		b.PrependInt64Slot(3, c.body, 0)
		b.PrependUOffsetTSlot(2, header, 0)
		b.PrependInt16Slot(0, metadataV5, 0)
		b.PrependByteSlot(1, headerBatch, 0)
		b.Finish(b.EndObject())
		var msg message
		if err := msg.parse(b.FinishedBytes()); (err == nil) != c.fits {
			t.Errorf("a body of %d bytes: %v", c.body, err)
		}
	}
}
