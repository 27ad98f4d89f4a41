package arrowio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"syscall"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// WriteOptions say how an output is written. The zero value is right for most.
type WriteOptions struct {
	Compression Compression
	// Force lets binary go to a terminal.
	Force bool
}

// Writer writes an Arrow stream or file. It is a Sink, for one goroutine.
type Writer struct {
	name    string
	kind    Kind
	options WriteOptions
	out     *output

	schema  *arrow.Schema
	layouts *layouts
	encoder *encoder
	frames  frameWriter
	arrays  []arrow.ArrayData // of the batch being written
	passes  *arrow.Schema     // of batches that are known to have the types of schema
	footer  footer

	done bool
	err  error
}

// batchBytes is how large a batch should be. One larger than cutAbove is cut.
const (
	batchBytes = 1 << 20
	cutAbove   = 4 * batchBytes
)

// Create prepares an output: "" or "-" is standard output, a stream; a path
// ending in .arrow or .feather becomes a file, any other a stream.
//
// Close makes the file visible, whole; until then the path is as it was (see
// package atomicfile). A device or a named pipe is written directly, as a stream.
// Nothing is written before Begin.
func Create(path string, o WriteOptions) (*Writer, error) {
	out, err := openOutput(path, o)
	if err != nil {
		return nil, err
	}
	w := &Writer{name: path, options: o, out: out}
	if path == "" || path == "-" {
		w.name = "standard output"
	}
	if !out.isDirect() {
		w.kind = KindByName(path)
	}
	return w, nil
}

// NewWriter writes a stream to w, which errors call name.
func NewWriter(w io.Writer, name string, o WriteOptions) *Writer {
	return &Writer{name: name, options: o, out: &output{w: w}}
}

// NewFileWriter writes a file to w, which errors call name.
func NewFileWriter(w io.Writer, name string, o WriteOptions) *Writer {
	return &Writer{name: name, kind: FileKind, options: o, out: &output{w: w}}
}

// Begin writes the schema. Zero batches after it still make a valid output.
func (w *Writer) Begin(schema *arrow.Schema) error {
	if w.schema != nil {
		panic("arrowio: Writer.Begin called twice")
	}
	w.schema = schema
	return w.note(w.begin())
}

func (w *Writer) begin() (err error) {
	defer unpanic(&err)
	message, err := schemaMessage(w.schema)
	if err != nil {
		return err
	}
	if err := w.layOut(message); err != nil {
		return err
	}
	if w.encoder, err = newEncoder(w.options.Compression); err != nil {
		return err
	}
	w.frames = frameWriter{w: w.out.w, sums: w.kind == StreamKind}
	if w.kind == FileKind {
		w.frames.bytes([]byte(headMagic))
		w.footer.schema = message
	}
	w.frames.message(message)
	return w.frames.flush()
}

// layOut lays the schema out with the dictionary ids that its message has.
func (w *Writer) layOut(schema []byte) error {
	var msg message
	if err := msg.parse(schema); err != nil {
		return err
	}
	_, ids, err := decodeSchema(msg.header)
	if err == nil {
		w.layouts, err = layoutOf(w.schema, ids)
	}
	return err
}

// note names the output in err and remembers it: after a step that has failed none
// follows.
func (w *Writer) note(err error) error {
	if err != nil && w.err == nil {
		w.err = w.named(err)
	}
	return w.err
}

// unpanic turns a panic of arrow/go, over arrays that break their own rules, into
// the error of the function that defers it.
func unpanic(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("is damaged: %v", p)
	}
}

func (w *Writer) named(err error) error {
	var column *fault
	switch {
	case errors.Is(err, syscall.EPIPE), errors.Is(err, io.ErrClosedPipe):
		return fmt.Errorf("%s: %w", w.name, ErrBrokenPipe)
	case errors.As(err, &column):
		out := inputError(w.name, column.err, "")
		out.Column = column.column
		if errors.Is(err, errDictionaryChange) {
			out.Advice = "write a stream (.arrows), or strings instead of a dictionary"
		}
		return out
	case errors.Is(err, syscall.ENOSPC):
		return inputError(w.name, syscall.ENOSPC, "make room, or write elsewhere (temporary files go to TMPDIR)")
	}
	return inputError(w.name, plainCause(err), "")
}

// Write writes one batch; a batch that is much too big is cut. Every column
// must have the type that the schema given to Begin says.
//
// A batch that comes straight from a Reader goes out as it came in.
func (w *Writer) Write(rec arrow.Record) error {
	if w.schema == nil || w.done {
		panic("arrowio: Writer.Write before Begin or after Close")
	}
	if w.err != nil {
		return w.err
	}
	return w.note(w.write(rec))
}

func (w *Writer) write(rec arrow.Record) (err error) {
	defer unpanic(&err)
	if b, ok := rec.(*batch); ok && w.canPass(b) {
		w.begun(headerBatch, len(b.meta), b.size)
		w.frames.message(b.meta)
		w.frames.summed(b.body.data[:b.size], b.sum, b.summed)
		return w.frames.flush()
	}
	if err := w.checkRecord(rec); err != nil {
		return err
	}
	rows, step := rec.NumRows(), rowsPerBatch(rec)
	if rows <= step {
		return w.writeBatch(rec)
	}
	for at := int64(0); at < rows; at += step {
		if err := w.writePart(rec.NewSlice(at, min(at+step, rows))); err != nil {
			return err
		}
	}
	return nil
}

// canPass reports whether b's message can go out as it is.
func (w *Writer) canPass(b *batch) bool {
	if !b.raw || b.size > cutAbove || w.options.Compression.Codec != None || len(w.layouts.dictionaries) > 0 {
		return false
	}
	if w.passes != b.schema && w.checkRecord(b) == nil {
		w.passes = b.schema
	}
	return w.passes == b.schema
}

func (w *Writer) checkRecord(rec arrow.Record) error {
	schema := rec.Schema()
	if schema == w.schema {
		return nil
	}
	if schema.NumFields() != w.schema.NumFields() {
		return fmt.Errorf("a batch has %d columns, the schema %d", schema.NumFields(), w.schema.NumFields())
	}
	for i, f := range w.schema.Fields() {
		if got := schema.Field(i); got.Name != f.Name || !arrow.TypeEqual(got.Type, f.Type) {
			return &fault{f.Name, fmt.Errorf("is %s, a batch has %q of %s there", f.Type, got.Name, got.Type)}
		}
	}
	return nil
}

// writePart writes a slice of a batch, and releases it.
func (w *Writer) writePart(part arrow.Record) error {
	defer part.Release()
	return w.writeBatch(part)
}

// writeBatch writes rec as one batch.
func (w *Writer) writeBatch(rec arrow.Record) error {
	w.arrays = w.arrays[:0]
	for _, col := range rec.Columns() {
		w.arrays = append(w.arrays, col.Data())
	}
	rows := int(rec.NumRows())
	for i, l := range w.layouts.columns {
		if err := w.writeDictionaries(l, w.arrays[i]); err != nil {
			return &fault{l.path, err}
		}
	}
	if err := w.encoder.encode(w.layouts.columns, w.arrays, rows); err != nil {
		return err
	}
	return w.send(headerBatch, w.encoder.batchMessage(rows))
}

// rowsPerBatch is how many rows of rec make a batch that readers take: all, if rec is not too
// large.
func rowsPerBatch(rec arrow.Record) int64 {
	size, rows := int64(recordSize(rec)), rec.NumRows()
	if size > cutAbove {
		rows = max(1, rows*batchBytes/size)
	}
	return min(rows, freeRows)
}

// recordSize estimates the bytes of rec.
func recordSize(rec arrow.Record) int {
	if b, ok := rec.(*batch); ok {
		return b.size
	}
	size := 0
	for _, col := range rec.Columns() {
		size += sizeOf(col.Data(), col.Len())
	}
	return size
}

// sizeOf estimates the bytes of n values of data: their share of its buffers.
func sizeOf(data arrow.ArrayData, n int) int {
	all := max(1, data.Offset()+data.Len())
	size := 0
	for _, b := range data.Buffers() {
		if b != nil {
			size += b.Len()
		}
	}
	for _, child := range data.Children() {
		size += sizeOf(child, child.Len())
	}
	return int(float64(size) * float64(n) / float64(all))
}

// writeDictionaries writes the dictionaries of data that differ from those written
// last, the inner ones first.
func (w *Writer) writeDictionaries(l *layout, data arrow.ArrayData) error {
	if len(w.layouts.dictionaries) == 0 {
		return nil
	}
	for i, child := range l.children {
		if err := w.writeDictionaries(child, data.Children()[i]); err != nil {
			return err
		}
	}
	if l.dict == nil {
		return nil
	}
	values := data.Dictionary()
	if same := sameValues(l.dict.data, values); same || w.kind == FileKind && l.dict.data != nil {
		if !same {
			return errDictionaryChange
		}
		return nil
	}
	if err := w.writeDictionaries(l.dict.values, values); err != nil {
		return err
	}
	values.Retain()
	l.dict.set(values)
	if err := w.encoder.encode([]*layout{l.dict.values}, []arrow.ArrayData{values}, values.Len()); err != nil {
		return err
	}
	return w.send(headerDictionary, w.encoder.dictionaryMessage(l.dict.id, values.Len()))
}

var errDictionaryChange = errors.New("its dictionary changes between batches, which a file cannot hold")

func sameValues(a, b arrow.ArrayData) bool {
	if a == nil || a == b {
		return a == b
	}
	x, y := array.MakeFromData(a), array.MakeFromData(b)
	defer x.Release()
	defer y.Release()
	return array.Equal(x, y)
}

// send writes the message whose body the encoder holds.
func (w *Writer) send(kind int, meta []byte) error {
	w.begun(kind, len(meta), w.encoder.bodySize())
	w.frames.message(meta)
	for _, b := range w.encoder.buffers {
		w.frames.padded(b)
	}
	return w.frames.flush()
}

// begun notes where a message begins, for the footer.
func (w *Writer) begun(kind, meta, body int) {
	if w.kind == FileKind {
		w.footer.add(block{w.frames.offset, int64(8 + padded(meta)), int64(body), kind})
	}
}

// Close commits: it writes the end and makes a file visible. After Fail, or an
// error of Write, it does what Fail does and returns that error.
func (w *Writer) Close() error {
	if w.done {
		return w.err
	}
	if w.schema == nil {
		w.note(errors.New("was closed before its schema was written"))
	}
	if w.err == nil {
		w.note(w.finish())
	}
	if w.err != nil {
		w.Fail(w.err)
		return w.err
	}
	w.release()
	return w.note(w.out.commit())
}

func (w *Writer) finish() error {
	w.frames.bytes([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0})
	if w.kind == FileKind {
		w.frames.bytes(w.footer.encode())
	} else { // in one write: some readers are gone once they have the end marker
		w.frames.bytes(w.frames.sum.after(w.frames.small).trailer())
	}
	return w.frames.flush()
}

// Fail gives the output up for the reason given. A file is left as it was. A stream
// ends with a message that no Arrow reader accepts, with the reason in it, so that
// no program takes it for whole.
func (w *Writer) Fail(cause error) {
	if w.done {
		return
	}
	w.release()
	if w.err == nil {
		w.err = cause
	}
	if w.out.isDirect() && !errors.Is(w.err, ErrBrokenPipe) {
		w.out.w.Write(poison(cause))
	}
	w.out.giveUp()
}

func (w *Writer) release() {
	w.done = true
	if w.layouts != nil {
		w.layouts.release()
	}
	if w.encoder != nil {
		w.encoder.reset()
	}
}

// poison is a message with the reason in words where its metadata should be. It
// claims to be longer than any reason is, so that readers fail at its end.
func poison(cause error) []byte {
	text := binary.LittleEndian.AppendUint32([]byte{0xff, 0xff, 0xff, 0xff}, poisonLength)
	reason := cause.Error()
	return append(text, reason[:min(len(reason), 4096)]...)
}
