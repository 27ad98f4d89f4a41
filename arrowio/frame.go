package arrowio

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	flatbuffers "github.com/google/flatbuffers/go"
)

// frameWriter writes messages. Small pieces are gathered, large ones go out as
// they are. It keeps the first error and writes nothing after it.
type frameWriter struct {
	w      io.Writer
	offset int64 // of the byte that follows
	small  []byte
	sums   bool     // sum is wanted
	sum    checksum // of what has been written
	err    error
}

const (
	gatherBelow = 16 << 10 // bytes of a piece that is gathered with others
	gatherLimit = 64 << 10 // bytes of pieces that are written together
)

func (f *frameWriter) bytes(b []byte) { f.summed(b, 0, false) }

// summed is bytes of b, whose checksum may be known.
func (f *frameWriter) summed(b []byte, sum checksum, known bool) {
	f.offset += int64(len(b))
	if len(b) < gatherBelow {
		f.small = append(f.small, b...)
		if len(f.small) >= gatherLimit {
			f.flush()
		}
		return
	}
	if f.flush() != nil {
		return
	}
	switch _, f.err = f.w.Write(b); {
	case !f.sums:
	case known:
		f.sum = f.sum.then(sum, len(b))
	default:
		f.sum = f.sum.after(b)
	}
}

func (f *frameWriter) flush() error {
	if f.err == nil && len(f.small) > 0 {
		if f.sums {
			f.sum = f.sum.after(f.small)
		}
		_, f.err = f.w.Write(f.small)
	}
	f.small = f.small[:0]
	return f.err
}

// message writes the start of a message.
func (f *frameWriter) message(meta []byte) {
	f.offset += 8
	f.small = append(f.small, 0xff, 0xff, 0xff, 0xff)
	f.small = binary.LittleEndian.AppendUint32(f.small, uint32(padded(len(meta))))
	f.bytes(meta)
	f.bytes(zeros[:padded(len(meta))-len(meta)])
}

// padded writes one buffer of a body.
func (f *frameWriter) padded(b []byte) {
	f.bytes(b)
	f.bytes(padding[:aligned(len(b))-len(b)])
}

var padding [64]byte

// padded rounds the length of a flatbuffer up to the alignment of messages.
func padded(n int) int { return (n + 7) &^ 7 }

// schemaMessage is the flatbuffer of the message that gives schema. arrow/go
// writes it; its framing is taken off.
func schemaMessage(schema *arrow.Schema) ([]byte, error) {
	var buf bytes.Buffer
	if err := ipc.NewWriter(&buf, ipc.WithSchema(schema)).Close(); err != nil {
		return nil, err
	}
	b := buf.Bytes()
	return b[8 : 8+binary.LittleEndian.Uint32(b[4:])], nil
}

// footer is the index at the end of a file.
type footer struct {
	schema                []byte // the flatbuffer of the schema's message
	dictionaries, batches []byte // Block structs
}

func (f *footer) add(b block) {
	list := &f.batches
	if b.kind == headerDictionary {
		list = &f.dictionaries
	}
	*list = binary.LittleEndian.AppendUint64(*list, uint64(b.offset))
	*list = binary.LittleEndian.AppendUint64(*list, uint64(b.meta))
	*list = binary.LittleEndian.AppendUint64(*list, uint64(b.body))
}

// encode is the footer with its length and magic. The schema's flatbuffer is
// put into the footer's as it is, which refers to the Schema table in it:
// references are relative, so a flatbuffer can be part of another.
func (f *footer) encode() []byte {
	b := flatbuffers.NewBuilder(len(f.schema) + len(f.batches) + 1024)
	msg := flatbuffer{data: f.schema}
	schema := msg.root().table(2)
	b.Prep(8, padded(len(f.schema)))
	for range padded(len(f.schema)) - len(f.schema) {
		b.PlaceByte(0)
	}
	for i := len(f.schema) - 1; i >= 0; i-- {
		b.PlaceByte(f.schema[i])
	}
	at := b.Offset() - flatbuffers.UOffsetT(schema.pos)
	batches := rawVector(b, f.batches, 24)
	dictionaries := rawVector(b, f.dictionaries, 24)
	b.StartObject(5)
	b.PrependUOffsetTSlot(1, at, 0)
	b.PrependUOffsetTSlot(2, dictionaries, 0)
	b.PrependUOffsetTSlot(3, batches, 0)
	b.PrependInt16Slot(0, metadataV5, 0)
	b.Finish(b.EndObject())
	out := b.FinishedBytes()
	out = binary.LittleEndian.AppendUint32(out, uint32(len(out)))
	return append(out, magic...)
}
