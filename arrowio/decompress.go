package arrowio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// decompressor decompresses the bodies of batches.
type decompressor struct {
	zstd  *zstd.Decoder
	lz4   *lz4.Reader
	limit int64
}

// BodyCompression table of Message.fbs: its codecs.
const (
	codecLZ4  = 0
	codecZstd = 1
)

// How many bytes one compressed byte can stand for, at most. A length that claims
// more is refused before any memory is taken for it.
const (
	maxRatioLZ4  = 255     // a run's length in one byte
	maxRatioZstd = 1 << 16 // a block of 128 KB in as little as four bytes
)

// decompress replaces b's body by one that holds its buffers decompressed.
func (d *decompressor) decompress(b *batch, compression table) error {
	codec := compression.byte(0)
	if codec != codecLZ4 && codec != codecZstd || compression.byte(1) != 0 {
		return fmt.Errorf("is compressed in a way (number %d) that is unknown", codec)
	}
	total := 0
	for _, s := range b.spans {
		n, err := claimedLength(b.body.data[s.off:s.off+s.len], codec)
		if err != nil {
			return err
		}
		if total += aligned(n); int64(total) > d.limit {
			return &LimitError{int64(total), d.limit}
		}
	}
	out, err := b.pool.get(total)
	if err != nil {
		return err
	}
	at := 0
	for i, s := range b.spans {
		n, err := d.buffer(out.data[at:], b.body.data[s.off:s.off+s.len], codec)
		if err != nil {
			b.pool.put(out)
			return err
		}
		b.spans[i] = span{at, n}
		at += aligned(n)
	}
	b.pool.put(b.body)
	b.body, b.size = out, total
	return nil
}

// aligned rounds n up to the alignment of buffers.
func aligned(n int) int { return (n + 63) &^ 63 }

// claimedLength is the decompressed length that a buffer claims in its first 8
// bytes. There -1 means that the rest is not compressed.
func claimedLength(src []byte, codec int) (int, error) {
	if len(src) == 0 {
		return 0, nil
	}
	if len(src) < 8 {
		return 0, errors.New("is damaged: a compressed buffer has no length")
	}
	n := int64(binary.LittleEndian.Uint64(src))
	ratio := int64(maxRatioLZ4)
	if codec == codecZstd {
		ratio = maxRatioZstd
	}
	if n == -1 {
		return len(src) - 8, nil
	}
	if n < 0 || n > ratio*int64(len(src)-8) {
		return 0, fmt.Errorf("is damaged: a compressed buffer of %d bytes claims %d", len(src)-8, n)
	}
	return int(n), nil
}

// buffer decompresses src into dst and returns its length.
func (d *decompressor) buffer(dst, src []byte, codec int) (int, error) {
	n, err := claimedLength(src, codec)
	if n == 0 || err != nil {
		return n, err
	}
	dst, src, raw := dst[:n:n], src[8:], int64(binary.LittleEndian.Uint64(src)) == -1
	switch {
	case raw:
		return copy(dst, src), nil
	case codec == codecZstd:
		err = d.unzstd(dst, src)
	default:
		err = d.unlz4(dst, src)
	}
	if err != nil {
		return 0, fmt.Errorf("is damaged: decompression: %w", err)
	}
	return n, nil
}

var errLength = errors.New("the data is not as long as claimed")

func (d *decompressor) unzstd(dst, src []byte) error {
	if d.zstd == nil {
		var err error
		d.zstd, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderMaxMemory(uint64(d.limit)))
		if err != nil {
			return err
		}
	}
	out, err := d.zstd.DecodeAll(src, dst[:0])
	if err == nil && len(out) != len(dst) {
		err = errLength
	}
	return err
}

func (d *decompressor) unlz4(dst, src []byte) error {
	if d.lz4 == nil {
		d.lz4 = lz4.NewReader(nil)
	}
	in := bytes.NewReader(src)
	d.lz4.Reset(in)
	if _, err := io.ReadFull(d.lz4, dst); err != nil {
		return err
	}
	var one [1]byte
	if n, err := io.ReadFull(d.lz4, one[:]); n != 0 || err != io.EOF {
		return errLength
	}
	if in.Len() != 0 {
		return errLength
	}
	return nil
}

func (d *decompressor) close() {
	if d.zstd != nil {
		d.zstd.Close()
	}
}
