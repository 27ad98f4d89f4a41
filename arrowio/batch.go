package arrowio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// fault is what is wrong with one column.
type fault struct {
	column string
	err    error
}

func (e *fault) Error() string { return fmt.Sprintf("column %q: %v", e.column, e.err) }
func (e *fault) Unwrap() error { return e.err }

// batch is a record batch as it came: the bytes of its message, checked, and
// where in them each array's buffers lie. It is an arrow.Record that makes its
// arrays when they are first asked for. A pass-through never asks, which is why
// it costs no allocation, and a writer sends the message on as it is.
type batch struct {
	pool    *pool
	refs    atomic.Int64
	schema  *arrow.Schema
	columns []*layout

	meta []byte // the message's flatbuffer; a copy, since the next message reuses its memory
	body *slab  // what the spans point into
	size int    // bytes of body in use
	raw  bool   // the message may go out as it is: every reader takes it

	sum    checksum // of the body as it came
	summed bool     // sum is known

	rows  int
	nodes []node // one for each array, parents first
	spans []span // one for each buffer, in the order of the nodes

	mu     sync.Mutex // guards what follows
	root   *memory.Buffer
	arrays []arrow.Array
}

// node is one array of a batch.
type node struct {
	length, nulls int
	first         int // its first buffer, an index of spans
	variadic      int // number of data buffers of a view
}

// span is where a buffer lies in the body.
type span struct{ off, len int }

// bytes is buffer i of n.
func (b *batch) bytes(n *node, i int) []byte {
	s := b.spans[n.first+i]
	return b.body.data[s.off : s.off+s.len]
}

// RecordBatch table of Message.fbs: its fields.
const (
	batchLength = iota
	batchNodes
	batchBuffers
	batchCompression
	batchVariadic
)

// decode reads the tables of a RecordBatch, whose body is n bytes in b.body,
// and checks that they fit each other, the layouts and the body.
func (b *batch) decode(t table, n int, d *decompressor) error {
	b.size = n
	spans, count := t.vector(batchBuffers, 16)
	if err := b.readSpans(spans, count); err != nil {
		return err
	}
	nodes, count := t.vector(batchNodes, 16)
	variadic, variadics := t.vector(batchVariadic, 8)
	w := nodeReader{nodes: nodes[:16*count], variadic: variadic[:8*variadics], batch: b}
	b.nodes = b.nodes[:0]
	for _, l := range b.columns {
		if err := w.read(l); err != nil {
			return err
		}
	}
	if t.f.bad {
		return errDamaged
	}
	if len(w.nodes) != 0 || len(w.variadic) != 0 || w.spans != len(b.spans) {
		return errors.New("is damaged: it has more arrays or buffers than its schema")
	}
	if compression := t.table(batchCompression); compression.present() {
		b.raw = false
		if err := d.decompress(b, compression); err != nil {
			return err
		}
	}
	return b.checkRows(t.int64(batchLength))
}

// readSpans reads where the buffers lie, and checks that they are in the body.
func (b *batch) readSpans(raw []byte, n int) error {
	b.spans = b.spans[:0]
	end := int64(0)
	for ; n > 0; n-- {
		off, length := int64(binary.LittleEndian.Uint64(raw)), int64(binary.LittleEndian.Uint64(raw[8:]))
		if off < 0 || length < 0 || off > int64(b.size) || length > int64(b.size)-off {
			return fmt.Errorf("is damaged: a buffer of %d bytes at %d is not within the body of %d bytes", length, off, b.size)
		}
		if length > 0 && (off < end || off%8 != 0) {
			b.raw = false
		}
		end = max(end, off+length)
		b.spans = append(b.spans, span{int(off), int(length)})
		raw = raw[16:]
	}
	return nil
}

// nodeReader gives each layout its nodes and buffers of a message.
type nodeReader struct {
	batch    *batch
	nodes    []byte // that are left
	variadic []byte // that are left
	spans    int    // that have been given
}

func (w *nodeReader) read(l *layout) error {
	if len(w.nodes) == 0 {
		return &fault{l.path, errors.New("is not in the batch: it has fewer arrays than its schema")}
	}
	n := node{
		length: int(int64(binary.LittleEndian.Uint64(w.nodes))),
		nulls:  int(int64(binary.LittleEndian.Uint64(w.nodes[8:]))),
		first:  w.spans,
	}
	w.nodes = w.nodes[16:]
	buffers := formBuffers[l.form]
	if l.form == formView {
		if len(w.variadic) == 0 {
			return &fault{l.path, errors.New("does not say how many buffers it has")}
		}
		n.variadic = int(min(binary.LittleEndian.Uint64(w.variadic), 1<<31))
		w.variadic = w.variadic[8:]
	}
	if buffers += n.variadic; buffers > len(w.batch.spans)-w.spans {
		return &fault{l.path, errors.New("is not in the batch: it has fewer buffers than its schema")}
	}
	w.spans += buffers
	w.batch.nodes = append(w.batch.nodes, n)
	for _, child := range l.children {
		if err := w.read(child); err != nil {
			return err
		}
	}
	return nil
}

// freeRows is how many rows a batch may have without any bytes, as columns of nulls or of
// few runs have them.
const freeRows = 1 << 24

// checkRows checks the number of rows: every column has that many, and the bytes
// can hold them. The bound is loose, against absurd numbers alone.
func (b *batch) checkRows(rows int64) error {
	if rows < 0 || rows > 8*int64(b.size)+freeRows {
		return fmt.Errorf("is damaged: it claims %d rows in %d bytes", rows, b.size)
	}
	if len(b.columns) == 0 && rows > 0 {
		return errors.New("has rows but no columns")
	}
	b.rows = int(rows)
	i := 0
	for _, l := range b.columns {
		if n := b.nodes[i]; n.length != b.rows {
			return &fault{l.path, fmt.Errorf("has %d rows, the batch has %d", n.length, b.rows)}
		}
		i += l.count()
	}
	return nil
}

// count is the number of nodes of l.
func (l *layout) count() int {
	n := 1
	for _, child := range l.children {
		n += child.count()
	}
	return n
}

// Retain and Release count references; the last Release gives the memory back.
func (b *batch) Retain() { b.refs.Add(1) }

func (b *batch) Release() {
	switch n := b.refs.Add(-1); {
	case n > 0:
		return
	case n < 0:
		panic("arrowio: a batch was released more often than retained")
	}
	for _, a := range b.arrays {
		a.Release()
	}
	b.arrays = b.arrays[:0]
	switch {
	case b.root != nil:
		b.root.Release() // the slab returns with the last array that views it
	case b.body != nil:
		b.pool.put(b.body)
	}
	b.root, b.body = nil, nil
	b.pool.putBatch(b)
}

func (b *batch) Schema() *arrow.Schema    { return b.schema }
func (b *batch) NumRows() int64           { return int64(b.rows) }
func (b *batch) NumCols() int64           { return int64(len(b.columns)) }
func (b *batch) Column(i int) arrow.Array { return b.Columns()[i] }
func (b *batch) ColumnName(i int) string  { return b.schema.Field(i).Name }

// Columns makes the arrays, as views into the body.
func (b *batch) Columns() []arrow.Array {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.arrays) == len(b.columns) {
		return b.arrays
	}
	b.root = memory.NewBufferWithAllocator(b.body.data[:b.size], b.body)
	at := 0
	for _, l := range b.columns {
		data := b.arrayData(l, &at)
		b.arrays = append(b.arrays, array.MakeFromData(data))
		data.Release()
	}
	return b.arrays
}

// arrayData makes the array of layout l whose node is number *at, and its
// children, whose nodes follow.
func (b *batch) arrayData(l *layout, at *int) arrow.ArrayData {
	n := &b.nodes[*at]
	*at++
	buffers := b.buffers(l, n)
	children := make([]arrow.ArrayData, len(l.children))
	for i, child := range l.children {
		children[i] = b.arrayData(child, at)
		defer children[i].Release()
	}
	data := array.NewData(l.dt, n.length, buffers, children, n.nulls, 0)
	memory.ReleaseBuffers(buffers)
	if l.dict != nil {
		data.SetDictionary(l.dict.current())
	}
	return data
}

// buffers gives node n's buffers in the order in which arrow/go keeps them:
// a validity first, even for the types that have none.
func (b *batch) buffers(l *layout, n *node) []*memory.Buffer {
	count := formBuffers[l.form] + n.variadic
	var out []*memory.Buffer
	if !l.hasValidity() {
		out = append(out, nil)
	}
	for i := range count {
		s := b.spans[n.first+i]
		if i == 0 && l.hasValidity() && (n.nulls == 0 || s.len == 0) {
			out = append(out, nil)
			continue
		}
		out = append(out, memory.SliceBuffer(b.root, s.off, s.len))
	}
	return out
}

func (l *layout) hasValidity() bool {
	switch l.form {
	case formNull, formSparse, formDense, formRunEnd:
		return false
	}
	return true
}

// current is the dictionary's values: none if the dictionary has not come yet.
func (d *dictionary) current() arrow.ArrayData {
	if d.data == nil {
		b := array.NewBuilder(allocator, d.values.dt) // array.MakeArrayOfNull knows fewer types
		defer b.Release()
		d.data = b.NewArray().Data()
	}
	return d.data
}

// record is the batch as arrow/go's own kind of record.
func (b *batch) record() arrow.Record { return array.NewRecord(b.schema, b.Columns(), int64(b.rows)) }

func (b *batch) SetColumn(i int, col arrow.Array) (arrow.Record, error) {
	rec := b.record()
	defer rec.Release()
	return rec.SetColumn(i, col)
}

func (b *batch) NewSlice(i, j int64) arrow.Record {
	rec := b.record()
	defer rec.Release()
	return rec.NewSlice(i, j)
}

func (b *batch) MarshalJSON() ([]byte, error) {
	rec := b.record()
	defer rec.Release()
	return rec.MarshalJSON()
}

func (b *batch) String() string {
	rec := b.record()
	defer rec.Release()
	return fmt.Sprint(rec)
}
