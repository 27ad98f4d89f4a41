package tables

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"unsafe"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/bitutil"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/metadata"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"mars.dev/mars/arrowio"
)

// A numberColumn reads a column of numbers, many values at a time. It gives what the library
// gives, several times as fast, and may be used beside others of the same file.
type numberColumn interface {
	open(ctx context.Context, r io.ReaderAt, column *metadata.ColumnChunkMetaData, size int64) error
	next(n int) (arrow.Array, error) // valid until the call after; errUnusual: the library must read it
	close()
}

// newNumberColumn returns a reader of a field of a file, nil if it is not one of plain
// numbers.
func newNumberColumn(mem *arrowio.Budget, packed *packedPages, f *parquetFile, field *pqarrow.SchemaField) numberColumn {
	if !field.IsLeaf() || f.WriterVersion().LessThan(metadata.Parquet816FixedVersion) {
		return nil
	}
	column, t := f.MetaData().Schema.Column(field.ColIndex), field.Field.Type
	kept := map[arrow.Type]parquet.Type{
		arrow.FLOAT32: parquet.Types.Float, arrow.INT32: parquet.Types.Int32,
		arrow.FLOAT64: parquet.Types.Double, arrow.INT64: parquet.Types.Int64,
	}
	as, ok := kept[t.ID()]
	if !ok || as != column.PhysicalType() || column.MaxRepetitionLevel() > 0 || column.MaxDefinitionLevel() > 1 {
		return nil
	}
	pages := pageReader{mem: mem, packed: packed, in: bufio.NewReaderSize(nil, int(f.properties.BufferSize))}
	gaps := column.MaxDefinitionLevel() > 0
	if t.ID() == arrow.FLOAT32 || t.ID() == arrow.INT32 {
		return &packedNumbers[uint32]{pages: pages, kind: t, gaps: gaps}
	}
	return &packedNumbers[uint64]{pages: pages, kind: t, gaps: gaps}
}

// packedNumbers is a numberColumn of values that are stored as T.
type packedNumbers[T uint32 | uint64] struct {
	pages pageReader
	kind  arrow.DataType
	gaps  bool // values may be null

	dictionary []T // in kept
	kept       []byte
	left       int    // rows of the page
	levels     runs   // of the page, 1 where a value is
	plain      []byte // values, unless they are
	made       []T    // those of plain that are not in the page as they are
	indices    runs   // of the dictionary
	indexed    bool

	values []T
	valid  []byte // bits
	nulls  int
}

// someNumbers are unpacked at a time.
type someNumbers [256]uint32

func (c *packedNumbers[T]) open(ctx context.Context, r io.ReaderAt, column *metadata.ColumnChunkMetaData, size int64) error {
	c.forget()
	c.left = 0
	return c.pages.open(ctx, r, column, size)
}

func (c *packedNumbers[T]) close() {
	c.forget()
	give[T](c.pages.mem, cap(c.values))
	give[T](c.pages.mem, cap(c.made))
	give[byte](c.pages.mem, cap(c.valid))
	c.values, c.made, c.valid = nil, nil, nil
	c.pages.close()
}

// forget forgets the dictionary.
func (c *packedNumbers[T]) forget() {
	give[byte](c.pages.mem, cap(c.kept))
	c.dictionary, c.kept = nil, nil
}

func (c *packedNumbers[T]) next(n int) (_ arrow.Array, err error) {
	defer func() {
		if p := recover(); p != nil { // a library's, which unpacks
			err = fmt.Errorf("%v", p)
		}
	}()
	if c.values, err = extend(c.pages.mem, c.values[:0], n, maxElements); err != nil {
		return nil, err
	}
	c.nulls = 0
	for at := 0; at < n; {
		if c.left == 0 {
			if err := c.nextPage(); err != nil {
				return nil, err
			}
			continue
		}
		if at == 0 {
			if values := c.view(n); values != nil {
				return c.array(values), nil
			}
		}
		k, err := c.read(at, min(n-at, c.left))
		if err != nil {
			return nil, err
		}
		at, c.left = at+k, c.left-k
	}
	return c.array(asBytes(c.values)), nil
}

// array is one of values, or of those of them that are valid.
func (c *packedNumbers[T]) array(values []byte) arrow.Array {
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(values)}
	if c.nulls > 0 {
		buffers[0] = memory.NewBufferBytes(c.valid)
	}
	data := array.NewData(c.kind, len(values)/int(sizeOf[T]()), buffers, nil, c.nulls, 0)
	defer data.Release()
	return array.MakeFromData(data)
}

// view is the next n values where they are in the page, nil if they are not there as they are.
func (c *packedNumbers[T]) view(n int) []byte {
	size := n * int(sizeOf[T]())
	if n == 0 || n > c.left || c.indexed || size > len(c.plain) || c.gaps && (c.levels.left < n || c.levels.packed || c.levels.value != 1) {
		return nil
	}
	values := c.plain[:size]
	c.plain, c.left, c.levels.left = c.plain[size:], c.left-n, c.levels.left-n
	return values
}

// nextPage goes to the next page of values.
func (c *packedNumbers[T]) nextPage() error {
	p, err := c.pages.next()
	if err != nil {
		return err
	}
	if p.kind == dictionaryPage {
		return c.setDictionary(p)
	}
	data, levels := p.data[p.repetition:], p.definition
	if c.gaps {
		if p.levels != encodedRuns {
			return errUnusual
		}
		if p.kind == dataPage {
			if len(data) < 4 || int64(binary.LittleEndian.Uint32(data)) > int64(len(data)-4) {
				return errors.New("has levels that do not fit their page")
			}
			levels, data = int(binary.LittleEndian.Uint32(data)), data[4:]
		}
		c.levels = runs{data: data[:levels], width: 1}
	}
	return c.setValues(p, data[levels:])
}

// setValues begins with the values of a page.
func (c *packedNumbers[T]) setValues(p page, data []byte) error {
	switch p.encoding {
	case encodedPlain:
		c.plain, c.indexed = data, false
	case encodedDictionary, encodedPlainDictionary:
		if c.dictionary == nil {
			return errors.New("has no dictionary before its values")
		}
		switch {
		case len(data) == 0:
			c.indices = runs{} // all are null
		case data[0] > 32:
			return fmt.Errorf("has indices of %d bits", data[0])
		default:
			c.indices = runs{data: data[1:], width: int(data[0])}
		}
		c.indexed = true
	case encodedDeltas:
		c.indexed = false
		if err := c.setDeltas(p, data); err != nil {
			return err
		}
	case encodedSplit:
		c.indexed = false
		if err := c.setSplit(data); err != nil {
			return err
		}
	default:
		return errUnusual
	}
	c.left = p.values
	return nil
}

func (c *packedNumbers[T]) setDictionary(p page) error {
	switch {
	case c.dictionary != nil:
		return errors.New("has more than one dictionary")
	case p.encoding != encodedPlain && p.encoding != encodedPlainDictionary:
		return errUnusual
	}
	if err := checkDictionary(int64(p.values), sizeOf[T](), int64(len(p.data))); err != nil {
		return err
	}
	c.kept = c.pages.keep()
	c.dictionary = unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(c.kept))), p.values)
	return nil
}

// read reads up to n rows of the page to values[at:], and says how many.
func (c *packedNumbers[T]) read(at, n int) (int, error) {
	if !c.gaps {
		return n, c.decode(c.values[at : at+n])
	}
	if c.levels.left == 0 {
		if err := c.levels.begin(); err != nil {
			return 0, err
		}
	}
	n = min(n, c.levels.left)
	if c.levels.packed {
		return c.spread(at, n)
	}
	c.levels.left -= n
	if c.levels.value == 1 {
		return n, c.decode(c.values[at : at+n])
	}
	clear(c.values[at : at+n])
	return n, c.markNull(at, n)
}

// spread reads some of n rows, which may be null, and says how many.
func (c *packedNumbers[T]) spread(at, n int) (int, error) {
	var buffer someNumbers
	levels := buffer[:min(n, len(buffer))]
	if err := c.levels.read(levels); err != nil {
		return 0, err
	}
	from := 0
	for _, level := range levels {
		from += int(level)
	}
	values := c.values[at : at+len(levels)]
	if err := c.decode(values[:from]); err != nil {
		return 0, err
	}
	for i := len(levels) - 1; i >= 0; i-- {
		if levels[i] == 1 {
			from--
			values[i] = values[from]
			continue
		}
		values[i] = 0
		if err := c.markNull(at+i, 1); err != nil {
			return 0, err
		}
	}
	return len(levels), nil
}

// markNull says that rows are null. There are no bits before the first that is.
func (c *packedNumbers[T]) markNull(at, n int) (err error) {
	if c.nulls == 0 {
		if c.valid, err = extend(c.pages.mem, c.valid[:0], int(bitutil.BytesForBits(int64(len(c.values)))), maxElements); err != nil {
			return err
		}
		bitutil.SetBitsTo(c.valid, 0, int64(len(c.values)), true)
	}
	c.nulls += n
	bitutil.SetBitsTo(c.valid, int64(at), int64(n), false)
	return nil
}

// decode reads the next values.
func (c *packedNumbers[T]) decode(dst []T) error {
	if !c.indexed {
		raw := asBytes(dst)
		if len(raw) > len(c.plain) {
			return fmt.Errorf("has %d bytes of values where %d are needed", len(c.plain), len(raw))
		}
		c.plain = c.plain[copy(raw, c.plain):]
		return nil
	}
	var buffer someNumbers
	for dictionary := c.dictionary; len(dst) > 0; {
		some := buffer[:min(len(buffer), len(dst))]
		if err := c.indices.read(some); err != nil {
			return err
		}
		for i, k := range some {
			if int(k) >= len(dictionary) {
				return fmt.Errorf("refers to value %d of a dictionary of %d", k, len(dictionary))
			}
			dst[i] = dictionary[k]
		}
		dst = dst[len(some):]
	}
	return nil
}

// asBytes views numbers as bytes.
func asBytes[T uint32 | uint64](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(sizeOf[T]()))
}

// runs reads numbers of so many bits as Parquet packs levels and indices: runs of one number,
// and groups of eight. There are pageSpare bytes behind data.
type runs struct {
	data  []byte // that follows the run
	width int    // bits, at most 32

	left   int    // numbers of the run
	value  uint32 // all of them, unless they are
	packed bool
	group  []byte // the packed ones, and what is behind them
	bit    int    // of group
}

// begin goes to the next run.
func (r *runs) begin() error {
	head, n := binary.Uvarint(r.data)
	if n <= 0 || head>>1 == 0 || head>>1 > maxElements {
		return errors.New("has fewer values than it claims")
	}
	r.data = r.data[n:]
	r.packed, r.left, r.value = head&1 == 1, int(head>>1), 0
	if r.packed {
		r.left *= 8
		size := min(r.left/8*r.width, len(r.data))
		if r.width > 0 {
			r.left = min(r.left, size*8/r.width)
		}
		r.group, r.bit, r.data = r.data, 0, r.data[size:]
		return nil
	}
	size := (r.width + 7) / 8
	if size > len(r.data) {
		return errors.New("ends within a value")
	}
	for k := range size {
		r.value |= uint32(r.data[k]) << (8 * k)
	}
	r.data = r.data[size:]
	return nil
}

// read fills dst with the next numbers.
func (r *runs) read(dst []uint32) error {
	for len(dst) > 0 {
		if r.left == 0 {
			if err := r.begin(); err != nil {
				return err
			}
			continue
		}
		some := dst[:min(len(dst), r.left)]
		r.left -= len(some)
		dst = dst[len(some):]
		if !r.packed {
			for i := range some {
				some[i] = r.value
			}
			continue
		}
		r.unpack(some)
	}
	return nil
}

// unpack fills dst with the next of the packed numbers, two of a word where they fit.
func (r *runs) unpack(dst []uint32) {
	data, bit, width := r.group[:cap(r.group)], uint(r.bit), uint(r.width)
	mask := uint64(1)<<width - 1
	for ; len(dst) >= 2 && width <= 28; dst = dst[2:] {
		word := binary.LittleEndian.Uint64(data[bit>>3:]) >> (bit & 7)
		dst[0], dst[1] = uint32(word&mask), uint32(word>>(width&31)&mask)
		bit += 2 * width
	}
	for i := range dst {
		word := binary.LittleEndian.Uint64(data[bit>>3:])
		dst[i] = uint32(word >> (bit & 7) & mask)
		bit += width
	}
	r.bit = int(bit)
}
