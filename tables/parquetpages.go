package tables

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/metadata"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"

	"mars.dev/mars/arrowio"
)

// A pageReader reads the pages of a column of a row group, without believing what they say
// of themselves. Its memory is that of the largest page.
type pageReader struct {
	ctx    context.Context
	mem    *arrowio.Budget
	packed *packedPages
	in     *bufio.Reader
	left   int64 // bytes of the column that have not been read
	codec  compress.Compression
	page   []byte
}

// packedPages lends memory for pages as they are in the file to the readers of all columns,
// which need it for a moment.
type packedPages struct {
	mem  *arrowio.Budget
	lock sync.Mutex
	free [][]byte
}

// take returns n bytes, which put takes back.
func (p *packedPages) take(n int) ([]byte, error) {
	p.lock.Lock()
	var b []byte
	if last := len(p.free) - 1; last >= 0 {
		b, p.free = p.free[last], p.free[:last]
	}
	p.lock.Unlock()
	longer, err := roomFor(p.mem, b, n)
	if err != nil {
		p.put(b)
	}
	return longer, err
}

func (p *packedPages) put(b []byte) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.free = append(p.free, b)
}

func (p *packedPages) close() {
	for _, b := range p.free {
		give[byte](p.mem, cap(b))
	}
	p.free = nil
}

// A page is one of a column.
type page struct {
	pageHeader
	data []byte // valid until the next page; there are pageSpare bytes behind it
}

// pageSpare is how many bytes there are behind a page, so that bits can be read in words.
const pageSpare = 8

// errUnusual is the error of a column that is left to the library.
var errUnusual = errors.New("is of an unusual kind")

// open goes to the pages of another column.
func (p *pageReader) open(ctx context.Context, r io.ReaderAt, column *metadata.ColumnChunkMetaData, size int64) error {
	start, length := column.DataPageOffset(), column.TotalCompressedSize()
	if at := column.DictionaryPageOffset(); column.HasDictionaryPage() && at > 0 && at < start {
		start = at
	}
	if start < 0 || length < 0 || length > size || start > size-length {
		return fmt.Errorf("is %d bytes at %d of a file of %d", length, start, size)
	}
	if _, err := compress.GetCodec(column.Compression()); err != nil || column.CryptoMetadata() != nil {
		return errUnusual
	}
	p.ctx, p.left, p.codec = ctx, length, column.Compression()
	p.in.Reset(io.NewSectionReader(r, start, length))
	return nil
}

// next reads the next page of values or of a dictionary.
func (p *pageReader) next() (page, error) {
	for {
		if err := p.ctx.Err(); err != nil {
			return page{}, err
		}
		h, err := p.header()
		if err != nil {
			return page{}, err
		}
		if int64(h.packed) > p.left {
			return page{}, fmt.Errorf("has a page of %d bytes where %d are left", h.packed, p.left)
		}
		p.left -= int64(h.packed)
		switch h.kind {
		case dataPage, dictionaryPage, dataPage2:
			data, err := p.body(h)
			return page{h, data}, err
		}
		if _, err := p.in.Discard(h.packed); err != nil {
			return page{}, err
		}
	}
}

// header reads the header of a page.
func (p *pageReader) header() (pageHeader, error) {
	head, err := p.in.Peek(p.in.Size())
	if err != nil && !errors.Is(err, io.EOF) {
		return pageHeader{}, err
	}
	if len(head) == 0 {
		return pageHeader{}, io.ErrUnexpectedEOF
	}
	h, size := parsePageHeader(head)
	if size == 0 {
		return h, errUnusual
	}
	p.left -= int64(size)
	_, err = p.in.Discard(size)
	return h, err
}

// body reads a page whose header has been read. The levels of version 2 are not packed.
func (p *pageReader) body(h pageHeader) (_ []byte, err error) {
	levels := h.repetition + h.definition
	if levels > min(h.size, h.packed) {
		return nil, fmt.Errorf("has %d bytes of levels in a page of %d", levels, h.size)
	}
	plain := p.codec == compress.Codecs.Uncompressed || h.kind == dataPage2 && h.unpacked
	if plain && h.size != h.packed {
		return nil, fmt.Errorf("has a page of %d bytes that claims %d", h.packed, h.size)
	}
	room, err := roomFor(p.mem, p.page, h.size+pageSpare)
	if err != nil {
		return nil, err
	}
	p.page = room
	data := room[:h.size]
	if plain {
		levels = h.size
	}
	if _, err := io.ReadFull(p.in, data[:levels]); err != nil || plain {
		return data, err
	}
	packed, err := p.packed.take(h.packed - levels)
	if err != nil {
		return nil, err
	}
	defer p.packed.put(packed)
	if _, err := io.ReadFull(p.in, packed); err != nil {
		return nil, err
	}
	return data, unpackPage(p.codec, data[levels:], packed)
}

// keep returns the memory of the page, which the reader forgets.
func (p *pageReader) keep() []byte {
	kept := p.page
	p.page = nil
	return kept
}

func (p *pageReader) close() { give[byte](p.mem, cap(p.keep())) }

// zstdPages unpacks into the room that it is given, and no more.
var zstdPages = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderConcurrency(0))
})

// unpackPage fills data with what packed holds, which must be as much.
func unpackPage(codec compress.Compression, data, packed []byte) error {
	if len(data) == 0 {
		return nil
	}
	n := 0
	switch codec {
	case compress.Codecs.Snappy:
		size, err := snappy.DecodedLen(packed)
		if err == nil && size == len(data) {
			_, err = snappy.Decode(data, packed)
		}
		if n = size; err != nil {
			return err
		}
	case compress.Codecs.Zstd:
		decoder, err := zstdPages()
		if err != nil {
			return err
		}
		out, err := decoder.DecodeAll(packed, data[:0:len(data)])
		if n = len(out); err != nil {
			return err
		}
	default:
		library, err := compress.GetCodec(codec)
		if err != nil {
			return err
		}
		if n, err = io.ReadFull(library.NewReader(bytes.NewReader(packed)), data); err != nil {
			return err
		}
	}
	if n != len(data) {
		return fmt.Errorf("has a page of %d bytes that claims %d", n, len(data))
	}
	return nil
}

// Kinds of pages, PageType of parquet.thrift.
const (
	dataPage       = 0
	dictionaryPage = 2
	dataPage2      = 3
)

// Encodings of parquet.thrift.
const (
	encodedPlain           = 0
	encodedPlainDictionary = 2
	encodedRuns            = 3
	encodedDeltas          = 5
	encodedDictionary      = 8
	encodedSplit           = 9
)

// pageHeader is what a page says of itself, PageHeader of parquet.thrift.
type pageHeader struct {
	kind                   int
	size, packed           int // bytes, and those in the file
	values                 int
	encoding, levels       int // of values, and of definition levels
	repetition, definition int // bytes of levels, in version 2
	unpacked               bool
}

// parsePageHeader reads the header at the beginning of head, and says how many bytes it has,
// 0 if it is none.
func parsePageHeader(head []byte) (h pageHeader, size int) {
	t := thrift{data: head}
	numbers := map[int]int64{}
	t.structure(0, numbers)
	h.kind, h.size, h.packed = t.natural(numbers[1]), t.natural(numbers[2]), t.natural(numbers[3])
	at := map[int]int{dataPage: 5, dictionaryPage: 7, dataPage2: 8}[h.kind] * thriftFields
	h.values = t.natural(numbers[at+1])
	switch h.kind {
	case dataPage:
		h.encoding, h.levels = int(numbers[at+2]), int(numbers[at+3])
	case dictionaryPage:
		h.encoding = int(numbers[at+2])
	case dataPage2:
		h.encoding, h.levels = int(numbers[at+4]), encodedRuns
		h.definition, h.repetition = t.natural(numbers[at+5]), t.natural(numbers[at+6])
		is, said := numbers[at+7]
		h.unpacked = said && is == 0
	}
	if t.bad {
		return h, 0
	}
	return h, len(head) - len(t.data)
}

// A thrift reads structures in Thrift's compact protocol.
type thrift struct {
	data []byte // that follows
	bad  bool
}

// thriftFields is more than the greatest number of a field.
const thriftFields = 64

// structure reads a structure. The numbers in it, and in those within it, are under their
// field's number; that of the outer field, times thriftFields, is added.
func (t *thrift) structure(outer int, numbers map[int]int64) {
	for id := 0; !t.bad; {
		head := t.bytes(1)
		if t.bad || head[0] == 0 {
			return
		}
		if step := int(head[0] >> 4); step > 0 {
			id += step
		} else {
			id = int(t.number())
		}
		if id <= 0 || id >= thriftFields || outer >= thriftFields*thriftFields {
			t.bad = true
			return
		}
		switch field := outer*thriftFields + id; head[0] & 15 {
		case 1, 2: // true, false
			numbers[field] = int64(2 - head[0]&15)
		case 3:
			t.bytes(1)
		case 4, 5, 6:
			numbers[field] = t.number()
		case 7:
			t.bytes(8)
		case 8:
			t.bytes(int(min(t.varint(), uint64(len(t.data)+1))))
		case 12:
			t.structure(field, numbers)
		default: // lists, which no header has
			t.bad = true
		}
	}
}

func (t *thrift) bytes(n int) []byte {
	if n > len(t.data) {
		t.bad = true
		return nil
	}
	out := t.data[:n]
	t.data = t.data[n:]
	return out
}

func (t *thrift) varint() uint64 {
	v, n := binary.Uvarint(t.data)
	if n <= 0 {
		t.bad = true
		return 0
	}
	t.data = t.data[n:]
	return v
}

// number is a signed number.
func (t *thrift) number() int64 {
	v := t.varint()
	return int64(v>>1) ^ -int64(v&1)
}

// natural is a number that is not negative and fits 32 bits.
func (t *thrift) natural(v int64) int {
	if v < 0 || v > 1<<31-1 {
		t.bad = true
		return 0
	}
	return int(v)
}
