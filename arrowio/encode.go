package arrowio

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"
)

// encoder lays arrays out as the body of a message, with every array cut to its
// rows and every offset counted from 0, whatever they were slices of. Its
// memory is reused from one batch to the next.
type encoder struct {
	nodes    []byte // length and null count of each array, as they go on the wire
	buffers  [][]byte
	variadic []int64
	scratch  scratch

	fb       *flatbuffers.Builder
	compress *compressor
}

func newEncoder(c Compression) (*encoder, error) {
	compress, err := newCompressor(c)
	return &encoder{fb: flatbuffers.NewBuilder(1024), compress: compress}, err
}

func (e *encoder) reset() {
	e.nodes, e.buffers, e.variadic = e.nodes[:0], e.buffers[:0], e.variadic[:0]
	e.scratch.reset()
}

// encode lays out the arrays, all of n rows. It may panic over arrays that break
// the rules of their own type.
func (e *encoder) encode(columns []*layout, arrays []arrow.ArrayData, n int) error {
	e.reset()
	for i, l := range columns {
		if err := e.array(l, arrays[i], arrays[i].Offset(), n); err != nil {
			return &fault{l.path, err}
		}
	}
	return e.compress.buffers(e)
}

// array lays out n values of data from value off on, counted from the start of its
// buffers.
func (e *encoder) array(l *layout, data arrow.ArrayData, off, n int) error {
	buffers := data.Buffers()
	nulls := 0
	if l.form == formNull {
		nulls = n
	} else if l.hasValidity() {
		nulls = countNulls(data, off, n)
	}
	e.nodes = binary.LittleEndian.AppendUint64(e.nodes, uint64(n))
	e.nodes = binary.LittleEndian.AppendUint64(e.nodes, uint64(nulls))
	if l.hasValidity() {
		e.validity(buffers[0], off, n, nulls)
	}
	switch l.form {
	case formFixed:
		e.buffer(part(buffers[1], off*l.width, n*l.width))
	case formBool:
		e.bits(buffers[1], off, n)
	case formBinary:
		first, last := e.offsets(l.width, buffers[1], off, n)
		e.buffer(part(buffers[2], first, last-first))
	case formView:
		e.views(buffers, off, n)
	default:
		return e.nested(l, data, off, n)
	}
	return nil
}

// nested lays out an array with children.
func (e *encoder) nested(l *layout, data arrow.ArrayData, off, n int) error {
	buffers, children := data.Buffers(), data.Children()
	switch l.form {
	case formList:
		first, last := e.offsets(l.width, buffers[1], off, n)
		return e.child(l, 0, children[0], first, last-first)
	case formListView:
		return e.listView(l, data, off, n)
	case formFixedList:
		return e.child(l, 0, children[0], off*l.width, n*l.width)
	case formStruct, formSparse:
		if l.form == formSparse {
			e.buffer(part(buffers[1], off, n))
		}
		for i := range children {
			if err := e.child(l, i, children[i], off, n); err != nil {
				return err
			}
		}
	case formDense:
		return e.dense(l, data, off, n)
	case formRunEnd:
		return e.runEnds(l, data, off, n)
	}
	return nil
}

// child lays out n values of child i from value off on.
func (e *encoder) child(l *layout, i int, data arrow.ArrayData, off, n int) error {
	if off+n > data.Len() {
		return fmt.Errorf("has a child of %d values that should have %d", data.Len(), off+n)
	}
	return e.array(l.children[i], data, data.Offset()+off, n)
}

func (e *encoder) buffer(b []byte) { e.buffers = append(e.buffers, b) }

// part is n bytes of b from off on; an empty part needs no buffer.
func part(b *memory.Buffer, off, n int) []byte {
	if n == 0 {
		return nil
	}
	return b.Bytes()[off : off+n]
}

// countNulls counts the nulls among n values from value off on.
func countNulls(data arrow.ArrayData, off, n int) int {
	bitmap := data.Buffers()[0]
	switch {
	case bitmap == nil || bitmap.Len() == 0 || data.NullN() == 0:
		return 0
	case off == data.Offset() && n == data.Len() && data.NullN() > 0:
		return data.NullN()
	}
	return n - bitutil.CountSetBits(bitmap.Bytes(), off, n)
}

func (e *encoder) validity(bitmap *memory.Buffer, off, n, nulls int) {
	if nulls == 0 {
		e.buffer(nil)
		return
	}
	e.bits(bitmap, off, n)
}

// bits lays out n bits from bit off on.
func (e *encoder) bits(b *memory.Buffer, off, n int) {
	if off%8 == 0 {
		e.buffer(part(b, off/8, (n+7)/8))
		return
	}
	out := e.scratch.take((n + 7) / 8)
	clear(out)
	bitutil.CopyBitmap(b.Bytes(), off, n, out, 0)
	e.buffer(out)
}

// offsets lays out the n+1 offsets of n values, counted from 0, and returns
// where the values begin and end. An array without values has one offset, 0.
func (e *encoder) offsets(width int, b *memory.Buffer, off, n int) (first, last int) {
	if n == 0 {
		e.buffer(zeros[:width])
		return 0, 0
	}
	raw := part(b, off*width, (n+1)*width)
	if width == 4 {
		return rebase[int32](e, raw)
	}
	return rebase[int64](e, raw)
}

func rebase[T int32 | int64](e *encoder, raw []byte) (first, last int) {
	offsets := valuesOf[T](raw)
	start := offsets[0]
	last = int(offsets[len(offsets)-1])
	if start != 0 {
		raw = e.scratch.take(len(raw))
		for i, o := range offsets {
			valuesOf[T](raw)[i] = o - start
		}
	}
	e.buffer(raw)
	return int(start), last
}

// views lays out views. If they show less than half of the data, what they show is
// copied, so that the pieces of a batch that is cut do not each carry all of it.
func (e *encoder) views(buffers []*memory.Buffer, off, n int) {
	views := part(buffers[1], off*viewWidth, n*viewWidth)
	shown, have := 0, 0
	for i := range n {
		if size := int(valuesOf[int32](views[i*viewWidth:])[0]); size > 12 {
			shown += size
		}
	}
	for _, b := range buffers[2:] {
		have += b.Len()
	}
	if shown < have/2 {
		e.compactViews(views, buffers, shown)
		return
	}
	e.buffer(views)
	e.variadic = append(e.variadic, int64(len(buffers)-2))
	for _, b := range buffers[2:] {
		e.buffer(b.Bytes())
	}
}

func (e *encoder) compactViews(views []byte, buffers []*memory.Buffer, shown int) {
	out := e.scratch.take(len(views))
	copy(out, views)
	data := e.scratch.take(shown)[:0]
	for at := 0; at < len(out); at += viewWidth {
		v := valuesOf[int32](out[at : at+viewWidth])
		size, buffer, offset := int(v[0]), int(v[2]), int(v[3])
		if size <= 12 {
			continue
		}
		if buffer < 0 || buffer >= len(buffers)-2 || offset < 0 || offset+size > buffers[2+buffer].Len() {
			clear(v) // a null's view may be anything
			continue
		}
		v[2], v[3] = 0, int32(len(data))
		data = append(data, buffers[2+buffer].Bytes()[offset:offset+size]...)
	}
	e.buffer(out)
	e.variadic = append(e.variadic, 1)
	e.buffer(data)
}

func (e *encoder) listView(l *layout, data arrow.ArrayData, off, n int) error {
	buffers := data.Buffers()
	offsets := e.scratch.take(n * l.width)
	copy(offsets, part(buffers[1], off*l.width, n*l.width))
	sizes := part(buffers[2], off*l.width, n*l.width)
	var first, last int
	if l.width == 4 {
		first, last = rebaseViews(valuesOf[int32](offsets), valuesOf[int32](sizes))
	} else {
		first, last = rebaseViews(valuesOf[int64](offsets), valuesOf[int64](sizes))
	}
	e.buffer(offsets)
	e.buffer(sizes)
	return e.child(l, 0, data.Children()[0], first, last-first)
}

// rebaseViews counts the offsets from the first element that is shown, and returns
// where the elements that are shown begin and end.
func rebaseViews[T int32 | int64](offsets, sizes []T) (first, last int) {
	if len(offsets) == 0 {
		return 0, 0
	}
	low, high := offsets[0], T(0)
	for i, o := range offsets {
		low, high = min(low, o), max(high, o+sizes[i])
	}
	for i := range offsets {
		offsets[i] -= low
	}
	return int(low), int(high)
}

// dense lays out a dense union: each child cut to the values that are used.
func (e *encoder) dense(l *layout, data arrow.ArrayData, off, n int) error {
	codes := part(data.Buffers()[1], off, n)
	raw := e.scratch.take(4 * n)
	copy(raw, part(data.Buffers()[2], 4*off, 4*n))
	offsets := valuesOf[int32](raw)
	var low, high [128]int32
	for i := range low {
		low[i] = 1<<31 - 1
	}
	for i, code := range codes {
		low[code], high[code] = min(low[code], offsets[i]), max(high[code], offsets[i]+1)
	}
	for i, code := range codes {
		offsets[i] -= low[code]
	}
	e.buffer(codes)
	e.buffer(raw)
	for i, code := range l.dt.(arrow.UnionType).TypeCodes() {
		first := min(low[code], high[code])
		if err := e.child(l, i, data.Children()[i], int(first), int(high[code]-first)); err != nil {
			return err
		}
	}
	return nil
}

// runEnds lays out a run-end encoded array, cut to the runs of its values.
func (e *encoder) runEnds(l *layout, data arrow.ArrayData, off, n int) error {
	slice := array.NewData(l.dt, n, data.Buffers(), data.Children(), 0, off)
	defer slice.Release()
	runs := array.NewRunEndEncodedData(slice)
	defer runs.Release()
	ends, values := runs.LogicalRunEndsArray(allocator), runs.LogicalValuesArray()
	defer ends.Release()
	defer values.Release()
	e.scratch.keep(ends)
	if err := e.child(l, 0, ends.Data(), 0, ends.Len()); err != nil {
		return err
	}
	return e.child(l, 1, values.Data(), 0, values.Len())
}

// bodySize is the length of the body, in which every buffer is padded.
func (e *encoder) bodySize() int {
	n := 0
	for _, b := range e.buffers {
		n += aligned(len(b))
	}
	return n
}

// batchTable writes the RecordBatch table of Message.fbs.
func (e *encoder) batchTable(rows int) flatbuffers.UOffsetT {
	b := e.fb
	var variadic, compression flatbuffers.UOffsetT
	if len(e.variadic) > 0 {
		b.StartVector(8, len(e.variadic), 8)
		for i := len(e.variadic) - 1; i >= 0; i-- {
			b.PrependInt64(e.variadic[i])
		}
		variadic = b.EndVector(len(e.variadic))
	}
	if codec, ok := e.compress.codec(); ok {
		b.StartObject(2)
		b.PrependByteSlot(0, codec, codecLZ4)
		compression = b.EndObject()
	}
	buffers := e.bufferVector()
	nodes := rawVector(b, e.nodes, 16)
	b.StartObject(5)
	b.PrependInt64Slot(batchLength, int64(rows), 0)
	b.PrependUOffsetTSlot(batchNodes, nodes, 0)
	b.PrependUOffsetTSlot(batchBuffers, buffers, 0)
	b.PrependUOffsetTSlot(batchCompression, compression, 0)
	b.PrependUOffsetTSlot(batchVariadic, variadic, 0)
	return b.EndObject()
}

func (e *encoder) bufferVector() flatbuffers.UOffsetT {
	b := e.fb
	b.StartVector(16, len(e.buffers), 8)
	end := e.bodySize()
	for i := len(e.buffers) - 1; i >= 0; i-- {
		end -= aligned(len(e.buffers[i]))
		b.PrependInt64(int64(len(e.buffers[i])))
		b.PrependInt64(int64(end))
	}
	return b.EndVector(len(e.buffers))
}

// rawVector writes a vector of structs of size bytes that are laid out already.
func rawVector(b *flatbuffers.Builder, raw []byte, size int) flatbuffers.UOffsetT {
	b.StartVector(size, len(raw)/size, 8)
	for at := len(raw); at > 0; at -= 8 {
		b.PrependUint64(binary.LittleEndian.Uint64(raw[at-8:]))
	}
	return b.EndVector(len(raw) / size)
}

// batchMessage is the flatbuffer of a record batch message; it is valid until
// the next message.
func (e *encoder) batchMessage(rows int) []byte {
	e.fb.Reset()
	return e.message(headerBatch, e.batchTable(rows))
}

// dictionaryMessage is the flatbuffer of a message that sets a dictionary.
func (e *encoder) dictionaryMessage(id int64, rows int) []byte {
	e.fb.Reset()
	data := e.batchTable(rows)
	e.fb.StartObject(3)
	e.fb.PrependInt64Slot(dictionaryID, id, 0)
	e.fb.PrependUOffsetTSlot(dictionaryData, data, 0)
	return e.message(headerDictionary, e.fb.EndObject())
}

func (e *encoder) message(kind byte, header flatbuffers.UOffsetT) []byte {
	b := e.fb
	b.StartObject(4)
	b.PrependInt64Slot(3, int64(e.bodySize()), 0)
	b.PrependUOffsetTSlot(2, header, 0)
	b.PrependInt16Slot(0, metadataV5, 0)
	b.PrependByteSlot(1, kind, 0)
	b.Finish(b.EndObject())
	return b.FinishedBytes()
}

// scratch is memory for one batch's rewritten buffers.
type scratch struct {
	chunk []byte
	used  int
	held  []arrow.Array
}

const scratchChunk = 64 << 10

// take lends n bytes, of any content, until reset.
func (s *scratch) take(n int) []byte {
	start := aligned(s.used)
	if start+n > len(s.chunk) {
		s.chunk, start = make([]byte, max(n, 2*len(s.chunk), scratchChunk)), 0
	}
	s.used = start + n
	return s.chunk[start : start+n : start+n]
}

// keep holds an array whose buffers are laid out.
func (s *scratch) keep(a arrow.Array) {
	a.Retain()
	s.held = append(s.held, a)
}

func (s *scratch) reset() {
	s.used = 0
	for _, a := range s.held {
		a.Release()
	}
	s.held = s.held[:0]
}
