package tables

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
)

// setDeltas begins with values of DELTA_BINARY_PACKED: the first, and of each other how much it is
// more than the one before, in blocks, each of several groups of numbers of the same width.
func (c *packedNumbers[T]) setDeltas(p page, data []byte) error {
	if c.kind.ID() != arrow.INT32 && c.kind.ID() != arrow.INT64 {
		return errUnusual
	}
	if len(data) == 0 { // all are null
		c.plain = nil
		return nil
	}
	t := thrift{data: data} // whose varints are the same
	block, groups, n := t.varint(), t.varint(), t.varint()
	first := t.number()
	value := T(first)
	if sizeOf[T]() == 4 && int64(int32(first)) != first {
		return fmt.Errorf("begins with %d, which is no number of 32 bits", first)
	}
	if t.bad || n > uint64(p.values) || groups == 0 || groups > block || block > maxElements || block%(32*groups) != 0 {
		return errors.New("has a head of differences that does not fit its page")
	}
	if err := c.makeRoom(int(n)); err != nil {
		return err
	}
	if n > 0 {
		c.made[0] = value
	}
	for at := 1; at < len(c.made); {
		least, widths := T(t.number()), t.bytes(int(min(groups, uint64(len(t.data)+1))))
		for k := 0; k < len(widths) && at < len(c.made); k++ {
			some := c.made[at:min(at+int(block/groups), len(c.made))]
			if err := addDeltas(some, value, least, &t, int(widths[k]), int(block/groups)); err != nil {
				return err
			}
			at, value = at+len(some), some[len(some)-1]
		}
		if t.bad {
			return errors.New("ends within its differences")
		}
	}
	c.plain = asBytes(c.made)
	return nil
}

// addDeltas fills dst with the values after one, of differences of so many bits beyond the least. t
// goes on behind the group, which has room for size of them; the last may be cut.
func addDeltas[T uint32 | uint64](dst []T, value, least T, t *thrift, width, size int) error {
	if width > 64 { // some write 33 for differences of 32
		return fmt.Errorf("has differences of %d bits", width)
	}
	if (len(dst)*width+7)/8 > len(t.data) {
		return errors.New("ends within its differences")
	}
	data := t.data[:cap(t.data)] // with pageSpare bytes
	for i := range dst {
		bit := i * width
		word := binary.LittleEndian.Uint64(data[bit>>3:]) >> (bit & 7)
		if bit&7+width > 64 {
			word |= uint64(data[bit>>3+8]) << (64 - bit&7)
		}
		value += least + T(word&(1<<width-1))
		dst[i] = value
	}
	t.bytes(min(size*width/8, len(t.data)))
	return nil
}

// setSplit begins with values of BYTE_STREAM_SPLIT: the first bytes of all, then the second ones, and
// so on.
func (c *packedNumbers[T]) setSplit(data []byte) error {
	size := int(sizeOf[T]())
	n := len(data) / size
	if len(data)%size != 0 {
		return fmt.Errorf("has %d bytes of values of %d", len(data), size)
	}
	if err := c.makeRoom(n); err != nil {
		return err
	}
	c.plain = asBytes(c.made)
	for k := range size {
		for i, b := range data[k*n:][:n] {
			c.plain[i*size+k] = b
		}
	}
	return nil
}

// makeRoom makes room for the values of a page.
func (c *packedNumbers[T]) makeRoom(n int) (err error) {
	c.made, err = extend(c.pages.mem, c.made[:0], n, maxElements)
	return err
}
