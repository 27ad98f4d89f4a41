package arrowio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Parts of an Arrow file: the magic with padding, messages, an end marker that some
// writers leave out, the footer, its length, the magic again.
const (
	magic     = "ARROW1"
	headMagic = magic + "\x00\x00"
	tailSize  = 4 + len(magic)
)

// block is where a message lies in a file, as the footer says.
type block struct {
	offset     int64
	meta, body int64
	kind       int
}

func (b block) end() int64 { return b.offset + b.meta + b.body }

// file is a messageSource that reads the blocks of a file: all dictionaries first,
// since some writers put them after the batches that need them.
type file struct {
	messageReader
	at     *io.SectionReader
	blocks []block
}

var errFooter = errors.New("is cut or damaged: its footer is not valid")

// startFile reads the footer. A file that came through a pipe is held first.
func (r *Reader) startFile(rest io.Reader) error {
	if r.input.at == nil {
		if err := r.input.hold(rest); err != nil {
			return err
		}
	}
	f := &file{at: r.input.section()}
	f.pool = r.pool
	footer, start, err := f.readFooter()
	if err != nil {
		return err
	}
	if err := r.setSchema(footer.table(1)); err != nil {
		return err
	}
	dictionaries, batches := blocksOf(footer, 2, headerDictionary), blocksOf(footer, 3, headerBatch)
	f.blocks = append(dictionaries, batches...)
	if footer.f.bad {
		return errFooter
	}
	r.messages = f
	return f.checkBlocks(start)
}

// readFooter returns the Footer table and where it starts.
func (f *file) readFooter() (table, int64, error) {
	size := f.at.Size()
	tail := make([]byte, tailSize)
	if size < int64(len(headMagic)+tailSize) {
		return table{}, 0, errFooter
	}
	if _, err := f.at.ReadAt(tail, size-int64(tailSize)); err != nil {
		return table{}, 0, plainCause(err)
	}
	n := int64(binary.LittleEndian.Uint32(tail))
	start := size - int64(tailSize) - n
	if string(tail[4:]) != magic || n > maxMetadata || start < int64(len(headMagic)) {
		return table{}, 0, errFooter
	}
	fb := &flatbuffer{data: make([]byte, n)}
	if _, err := f.at.ReadAt(fb.data, start); err != nil {
		return table{}, 0, plainCause(err)
	}
	root := fb.root()
	if fb.bad {
		return table{}, 0, errFooter
	}
	return root, start, nil
}

func blocksOf(footer table, field, kind int) []block {
	raw, n := footer.vector(field, 24)
	out := make([]block, n)
	for i := range out {
		b := raw[24*i:]
		out[i] = block{
			offset: int64(binary.LittleEndian.Uint64(b)),
			meta:   int64(int32(binary.LittleEndian.Uint32(b[8:]))),
			body:   int64(binary.LittleEndian.Uint64(b[16:])),
			kind:   kind,
		}
	}
	return out
}

// checkBlocks checks that the blocks fill the file between its schema and its
// footer: a block that the footer leaves out, or has twice, would be rows lost
// or invented.
func (f *file) checkBlocks(end int64) error {
	sorted := slices.Clone(f.blocks)
	slices.SortFunc(sorted, func(a, b block) int { return int(min(max(a.offset-b.offset, -1), 1)) })
	at := int64(len(headMagic))
	for i, b := range sorted {
		if b.offset < at || b.meta < 8 || b.body < 0 || b.meta > end-b.offset || b.body > end-b.offset-b.meta {
			return fmt.Errorf("%w: block %d is not within the file", errFooter, i)
		}
		if err := f.checkGap(at, b.offset, i == 0); err != nil {
			return err
		}
		at = b.end()
	}
	return f.checkGap(at, end, len(sorted) == 0)
}

// checkGap checks that nothing is lost between two blocks: zeros, an end
// marker, and before the first block the schema's message.
func (f *file) checkGap(from, to int64, first bool) error {
	if to-from > maxMetadata {
		return fmt.Errorf("%w: it leaves out the bytes from %d to %d", errFooter, from, to)
	}
	gap := make([]byte, to-from)
	if _, err := f.at.ReadAt(gap, from); err != nil && err != io.EOF {
		return plainCause(err)
	}
	if first {
		gap = afterSchema(gap)
	}
	gap = bytes.TrimPrefix(bytes.TrimLeft(gap, "\x00"), []byte{0xff, 0xff, 0xff, 0xff})
	if len(bytes.TrimLeft(gap, "\x00")) > 0 {
		return fmt.Errorf("%w: it leaves out the bytes from %d to %d", errFooter, from, to)
	}
	return nil
}

// afterSchema returns what follows the schema at the start of gap. The schema
// is a message, or (polars) a bare flatbuffer, which has no length; there all
// up to the next message passes for it.
func afterSchema(gap []byte) []byte {
	if end, kind := messageAt(gap); kind == headerSchema {
		return gap[end:]
	}
	for at := 8; at < len(gap); at += 8 {
		if _, kind := messageAt(gap[at:]); kind != 0 {
			return gap[at:]
		}
	}
	return nil
}

// messageAt returns the end of the flatbuffer of the message that b starts
// with, and its kind, 0 if there is none.
func messageAt(b []byte) (end, kind int) {
	if len(b) < 8 || binary.LittleEndian.Uint32(b) != 0xffffffff {
		return 0, 0
	}
	n := int(binary.LittleEndian.Uint32(b[4:]))
	var msg message
	if n == 0 || n > len(b)-8 || msg.parse(b[8:8+n]) != nil {
		return 0, 0
	}
	return 8 + n, msg.kind
}

// next reads the message of the next block.
func (f *file) next() (*message, error) {
	if len(f.blocks) == 0 {
		return nil, io.EOF
	}
	b := f.blocks[0]
	f.blocks = f.blocks[1:]
	f.r = io.NewSectionReader(f.at, b.offset, b.meta+b.body)
	f.offset, f.size = b.offset, b.end()
	msg, err := f.messageReader.next()
	if err == io.EOF || err == nil && (f.offset != b.offset+b.meta || int64(msg.body) != b.body || msg.kind != b.kind) {
		err = fmt.Errorf("%w: it does not agree with the message at byte %d", errFooter, b.offset)
	}
	return msg, err
}
