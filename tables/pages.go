package tables

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"
)

// What the library reads wrong and without a word in pages that are damaged is found here first, as
// https://parquet.apache.org/docs/file-format/data-pages/encodings/ says what they have to hold.

var errPageEnds = errors.New("a page ends before its values: it is damaged")

// checkPage returns an error for a page of values that the library would read beyond its parts.
func checkPage(p file.Page, column *schema.Column) error {
	data := p.Data()
	switch p := p.(type) {
	case *file.DataPageV1:
		n, there := int(p.NumValues()), int(p.NumValues())
		for _, level := range []struct {
			highest  int16
			encoding parquet.Encoding
		}{{column.MaxRepetitionLevel(), parquet.Encoding(p.RepetitionLevelEncoding())}, {column.MaxDefinitionLevel(), parquet.Encoding(p.DefinitionLevelEncoding())}} {
			if level.highest == 0 {
				continue
			}
			if level.encoding != parquet.Encodings.RLE {
				return nil // older than that, and of no writer that is left
			}
			part, rest, err := lengthOf(data)
			if err != nil {
				return err
			}
			if there, err = checkLevels(part, level.highest, n); err != nil {
				return err
			}
			data = rest
		}
		return checkValues(data, parquet.Encoding(p.Encoding()), column, there)
	case *file.DataPageV2:
		n, there := int(p.NumValues()), int(p.NumValues()-p.NumNulls())
		for _, level := range []struct {
			highest int16
			length  int32
		}{{column.MaxRepetitionLevel(), p.RepetitionLevelByteLen()}, {column.MaxDefinitionLevel(), p.DefinitionLevelByteLen()}} {
			if level.length < 0 || int(level.length) > len(data) {
				return errPageEnds
			}
			if level.highest > 0 {
				if _, err := checkLevels(data[:level.length], level.highest, n); err != nil {
					return err
				}
			}
			data = data[level.length:]
		}
		return checkValues(data, parquet.Encoding(p.Encoding()), column, there)
	}
	return nil
}

// lengthOf splits data behind a part whose length is before it.
func lengthOf(data []byte) (part, rest []byte, err error) {
	if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
		return nil, nil, errPageEnds
	}
	n := binary.LittleEndian.Uint32(data)
	return data[4 : 4+n], data[4+n:], nil
}

// checkLevels checks that there are n levels. there is how many are the highest, at most n.
func checkLevels(part []byte, highest int16, n int) (there int, err error) {
	left := n
	err = eachRun(part, bits.Len16(uint16(highest)), n, func(count int, value uint64, packed []byte) {
		switch count = min(count, left); {
		case packed == nil && value == uint64(highest):
			there += count
		case packed != nil && highest == 1:
			for i := range count {
				there += int(packed[i/8] >> (i % 8) & 1)
			}
		}
		left -= count
	})
	if highest > 1 {
		there = 0 // they are not counted
	}
	return there, err
}

// eachRun goes through runs of values of some bits up to n values: a value that is repeated, or
// count values that are packed.
func eachRun(part []byte, width, n int, each func(count int, value uint64, packed []byte)) error {
	for n > 0 {
		head, size := binary.Uvarint(part)
		if size <= 0 || head>>1 > math.MaxInt32 {
			return errPageEnds
		}
		part = part[size:]
		count := int(head >> 1)
		if head&1 == 0 {
			bytes := (width + 7) / 8
			if len(part) < bytes {
				return errPageEnds
			}
			var wide [8]byte
			copy(wide[:], part[:bytes])
			each(count, binary.LittleEndian.Uint64(wide[:]), nil)
			part = part[bytes:]
			n -= count
			continue
		}
		count *= 8
		bytes := min((count*width+7)/8, len(part)) // the last of them may lack what fills it up
		if width > 0 && bytes*8/width < min(count, n) {
			return errPageEnds
		}
		each(count, 0, part[:bytes])
		part = part[bytes:]
		n -= count
	}
	return nil
}

// checkValues checks that there are n values, or as many as its own length says.
func checkValues(data []byte, encoding parquet.Encoding, column *schema.Column, n int) error {
	none := func(int, uint64, []byte) {}
	switch encoding {
	case parquet.Encodings.PlainDict, parquet.Encodings.RLEDict:
		if n == 0 {
			return nil
		}
		if len(data) == 0 {
			return errPageEnds
		}
		if data[0] > 32 {
			return fmt.Errorf("a page has indices of %d bits: it is damaged", data[0])
		}
		return eachRun(data[1:], int(data[0]), n, none)
	case parquet.Encodings.RLE:
		part, _, err := lengthOf(data)
		if err != nil {
			return err
		}
		return eachRun(part, 1, n, none)
	case parquet.Encodings.DeltaBinaryPacked:
		first, err := checkDelta(data)
		if err == nil && column.PhysicalType() == parquet.Types.Int32 && int64(int32(first)) != first {
			return fmt.Errorf("a page of 32 bits begins with %d: it is damaged", first)
		}
		return err
	case parquet.Encodings.DeltaLengthByteArray:
		_, err := checkDelta(data)
		return err
	case parquet.Encodings.DeltaByteArray:
		if first, err := checkDelta(data); err != nil || first != 0 {
			return errors.Join(err, errors.New("a page begins with a text that goes on from one before: it is damaged"))
		}
	}
	return nil
}

// checkDelta checks the header of delta-encoded numbers, and returns the first of them.
func checkDelta(data []byte) (first int64, err error) {
	var head [3]uint64 // the values of a block, its miniblocks, and all values
	for i := range head {
		v, size := binary.Uvarint(data)
		if size <= 0 {
			return 0, errPageEnds
		}
		head[i], data = v, data[size:]
	}
	first, size := binary.Varint(data)
	block, miniblocks := head[0], head[1]
	switch {
	case size <= 0:
		return 0, errPageEnds
	case block == 0 || block%128 != 0 || miniblocks == 0 || block%miniblocks != 0 || block/miniblocks%32 != 0 || block > math.MaxInt32:
		return 0, fmt.Errorf("a page has blocks of %d values in %d parts: it is damaged", block, miniblocks)
	}
	return first, nil
}
