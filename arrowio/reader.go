package arrowio

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// Reader reads an Arrow stream or file. It is a Stream, for one goroutine; the
// batches it gives may be used and released on any.
type Reader struct {
	name   string
	kind   Kind
	input  *input
	closer io.Closer

	pool     *pool
	messages messageSource
	schema   *arrow.Schema
	layouts  *layouts
	unpack   decompressor
	slice    int      // see ReadOptions.Slice
	rest     *slicing // of the batch that is being read; nil: none is in slices

	offset int64  // of the message that is being read
	count  int    // batches given
	last   *batch // the batch given last
	err    error
}

// messageSource gives the messages of an input in the order in which they are
// to be read, and their bodies.
type messageSource interface {
	next() (*message, error) // io.EOF after the last of a complete input
	position() int64         // where it stands in the input
	readBody(n int) (*slab, error)
}

// NewReader reads from r, which errors call name. The schema is read at once.
// An input that can seek (a regular file, a bytes.Reader) is read from where it
// stands, and can be read again.
func NewReader(r io.Reader, name string, o ReadOptions) (*Reader, error) {
	o = o.withDefaults()
	out := &Reader{name: name, slice: o.Slice, pool: newPool(o.Allocator, o.Budget), unpack: decompressor{limit: o.Budget.Limit()}}
	in, err := newInput(r)
	if err == nil {
		out.input = in
		err = out.start()
	}
	if err != nil {
		out.Close()
		return nil, out.located(err)
	}
	return out, nil
}

// start reads what comes before the first batch.
func (r *Reader) start() error {
	br, err := r.input.reader()
	if err != nil {
		return err
	}
	kind, advice, err := kindByContent(br.head())
	if err != nil {
		return inputError(r.name, err, advice)
	}
	r.kind, r.offset, r.count, r.rest, r.err = kind, 0, 0, nil, nil
	if r.layouts != nil {
		r.layouts.release()
	}
	if kind == FileKind {
		return r.startFile(br)
	}
	return r.startStream(br.Reader)
}

func (r *Reader) startStream(br *bufio.Reader) error {
	m := &messageReader{r: br, size: r.input.size, pool: r.pool, sums: true}
	r.messages = &stream{messageReader: m}
	msg, err := m.next()
	if err == io.EOF {
		err = errors.New("ends before its schema")
	}
	if err == nil && (msg.kind != headerSchema || msg.body != 0) {
		err = errors.New("is damaged: it does not start with a schema")
	}
	if err != nil {
		return err
	}
	return r.setSchema(msg.header)
}

func (r *Reader) setSchema(t table) error {
	schema, ids, err := decodeSchema(t)
	if err != nil {
		return err
	}
	if r.schema == nil {
		r.schema = schema
	} else if !r.schema.Equal(schema) {
		return errors.New("has changed since it was read the first time")
	}
	r.layouts, err = layoutOf(schema, ids)
	return err
}

// stream is a messageSource that reads messages as they come.
type stream struct{ *messageReader }

func (s *stream) next() (*message, error) {
	msg, err := s.messageReader.next()
	if err == io.EOF {
		if err := s.sum.checkEnd(s.r); err != nil {
			return nil, err
		}
	}
	return msg, err
}

// Name is what errors call the input.
func (r *Reader) Name() string { return r.name }

// Kind says whether the input is a stream or a file.
func (r *Reader) Kind() Kind { return r.kind }

// Progress is how many bytes of the input have been read, about, and how many it has, 0 if
// that is not known.
func (r *Reader) Progress() (done, all int64) {
	return r.messages.position() + r.rest.done(), max(r.input.size, 0)
}

// Schema is the schema of every batch.
func (r *Reader) Schema() *arrow.Schema { return r.schema }

// Next returns the next batch, valid until the following call unless retained,
// or io.EOF after the last batch of a complete input. Once it has failed it
// keeps failing.
func (r *Reader) Next() (arrow.Record, error) {
	r.dropLast()
	if r.err != nil {
		return nil, r.err
	}
	b, err := r.next()
	if err != nil {
		r.err = r.located(err)
		return nil, r.err
	}
	r.last = b
	r.count++
	return b, nil
}

func (r *Reader) dropLast() {
	if r.last != nil {
		r.last.Release()
		r.last = nil
	}
}

// next reads messages up to the next batch. The checks leave arrow/go nothing to
// panic about. If it panics all the same, that is an error of the input.
func (r *Reader) next() (b *batch, err error) {
	defer unpanic(&err)
	if r.rest != nil {
		if b, err := r.rest.next(r.pool); err != io.EOF {
			return b, err
		}
		r.rest = nil
	}
	for {
		msg, err := r.messages.next()
		if err != nil {
			return nil, err
		}
		r.offset = msg.offset
		switch msg.kind {
		case headerBatch:
			if r.rest, err = r.sliced(msg); err != nil {
				return nil, err
			}
			if r.rest != nil {
				return r.rest.next(r.pool)
			}
			return r.readBatch(msg, msg.header, r.schema, r.layouts.columns)
		case headerDictionary:
			if err := r.readDictionary(msg); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("is damaged: a message of kind %d where a batch belongs", msg.kind)
		}
	}
}

// readBatch reads the body of msg and checks it as the batch that t describes.
func (r *Reader) readBatch(msg *message, t table, schema *arrow.Schema, columns []*layout) (*batch, error) {
	body, err := r.messages.readBody(msg.body)
	if err != nil {
		return nil, err
	}
	b := r.pool.newBatch()
	b.schema, b.columns, b.body, b.raw = schema, columns, body, msg.current && msg.body%8 == 0
	b.sum, b.summed = msg.sum, msg.summed
	b.meta = append(b.meta[:0], msg.meta...)
	if err = b.decode(t, msg.body, &r.unpack); err == nil {
		err = b.validate()
	}
	if err == nil && len(r.layouts.dictionaries) > 0 {
		b.Columns() // now, while the dictionaries are those of this batch
	}
	if err != nil {
		b.Release()
		return nil, err
	}
	return b, nil
}

// DictionaryBatch table of Message.fbs: its fields.
const (
	dictionaryID = iota
	dictionaryData
	dictionaryIsDelta
)

// readDictionary sets, replaces or extends a dictionary.
func (r *Reader) readDictionary(msg *message) error {
	d := r.layouts.dictionaries[msg.header.int64(dictionaryID)]
	data := msg.header.table(dictionaryData)
	if d == nil || !data.present() {
		return errors.New("is damaged: it has a dictionary that its schema does not have")
	}
	b, err := r.readBatch(msg, data, dictionarySchema(d), []*layout{d.values})
	if err != nil {
		return err
	}
	defer b.Release()
	values := b.Column(0).Data()
	values.Retain()
	if msg.header.bool(dictionaryIsDelta) && d.data != nil {
		return d.extend(values, r.pool.budget.Limit())
	}
	d.set(values)
	return nil
}

func dictionarySchema(d *dictionary) *arrow.Schema {
	return arrow.NewSchema([]arrow.Field{{Name: d.values.path, Type: d.values.dt, Nullable: true}}, nil)
}

// extend appends more values to d, up to limit bytes.
func (d *dictionary) extend(values arrow.ArrayData, limit int64) error {
	defer values.Release()
	if size := int64(sizeOf(d.data, d.data.Len()) + sizeOf(values, values.Len())); size > limit {
		return &fault{d.values.path, &LimitError{size, limit}}
	}
	parts := []arrow.Array{array.MakeFromData(d.data), array.MakeFromData(values)}
	defer parts[0].Release()
	defer parts[1].Release()
	all, err := array.Concatenate(parts, allocator)
	if err != nil {
		return &fault{d.values.path, err}
	}
	d.set(all.Data())
	return nil
}

// located says where in the input err is.
func (r *Reader) located(err error) error {
	var located *Error
	if err == io.EOF || errors.As(err, &located) {
		return err
	}
	out := &Error{Input: r.name, At: &Place{Offset: r.offset, Batch: r.count}, Err: err}
	if err == errChecksum {
		out.At = nil // it may be anywhere
	}
	var column *fault
	if errors.As(err, &column) {
		out.Column, out.Err = column.column, column.err
	}
	out.Advice = adviceFor(out.Err)
	return out
}

// adviceFor says what to do about an error.
func adviceFor(err error) string {
	var (
		limit    *LimitError
		kind     *typeFault
		upstream *upstreamError
	)
	switch {
	case errors.As(err, &limit):
		return "write smaller batches (about 1 MB), or raise --memory-limit"
	case errors.As(err, &kind):
		return kind.advice
	case errors.As(err, &upstream):
		return "its own error says more"
	case errors.Is(err, errCut):
		return "look at the errors of the program before, and run it again"
	case errors.Is(err, errNotText):
		return ""
	}
	return "write it again with the program that made it"
}

// CanRewind reports whether the input can be read again.
func (r *Reader) CanRewind() bool { return r.input.at != nil }

// Rewind starts over at the first batch. It panics unless CanRewind.
func (r *Reader) Rewind() error {
	r.dropLast()
	if !r.CanRewind() {
		panic("arrowio: Rewind of an input that cannot be read again")
	}
	if err := r.start(); err != nil {
		return r.located(err)
	}
	return nil
}

// Close frees what the reader holds, and closes the file that Open opened. Batches
// that are retained stay valid.
func (r *Reader) Close() error {
	r.dropLast()
	r.err = errors.New("arrowio: the reader is closed")
	if r.layouts != nil {
		r.layouts.release()
	}
	r.pool.close()
	r.unpack.close()
	var err error
	if r.input != nil {
		err = r.input.close()
	}
	if r.closer != nil {
		err = errors.Join(err, r.closer.Close())
		r.closer = nil
	}
	return err
}
