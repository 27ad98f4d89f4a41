package arrowio

import (
	"bytes"
	"encoding/binary"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// compressor compresses the buffers of a message one by one, as Arrow asks: the
// length of the buffer, then a frame of the codec.
type compressor struct {
	zstd *zstd.Encoder
	lz4  *lz4.Writer
	out  bytes.Buffer
	ends []int // of the compressed buffers in out
}

func newCompressor(c Compression) (*compressor, error) {
	out := &compressor{}
	var err error
	switch c.Codec {
	case Zstd:
		level := zstd.SpeedDefault
		if c.Level > 0 {
			level = zstd.EncoderLevelFromZstd(c.Level)
		}
		out.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(level), zstd.WithEncoderCRC(false))
	case LZ4:
		out.lz4 = lz4.NewWriter(nil)
		err = out.lz4.Apply(lz4.BlockSizeOption(lz4.Block64Kb), lz4.ChecksumOption(false), lz4.CompressionLevelOption(lz4Level(c.Level)))
	}
	return out, err
}

func lz4Level(n int) lz4.CompressionLevel {
	if n == 0 {
		return lz4.Fast
	}
	return lz4.CompressionLevel(1 << (8 + n))
}

// codec is the codec's number in Message.fbs; ok is false if there is none.
func (c *compressor) codec() (number byte, ok bool) {
	if c.zstd != nil {
		return codecZstd, true
	}
	return codecLZ4, c.lz4 != nil
}

// buffers replaces e's buffers by compressed ones.
func (c *compressor) buffers(e *encoder) error {
	if _, ok := c.codec(); !ok {
		return nil
	}
	c.out.Reset()
	c.ends = c.ends[:0]
	for _, b := range e.buffers {
		if err := c.compress(b); err != nil {
			return err
		}
		c.ends = append(c.ends, c.out.Len())
	}
	start := 0
	for i, end := range c.ends {
		e.buffers[i] = c.out.Bytes()[start:end]
		start = end
	}
	return nil
}

// compress appends b to out; an empty buffer stays empty.
func (c *compressor) compress(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	c.out.Write(binary.LittleEndian.AppendUint64(c.out.AvailableBuffer(), uint64(len(b))))
	if c.zstd != nil {
		c.out.Write(c.zstd.EncodeAll(b, c.out.AvailableBuffer()))
		return nil
	}
	c.lz4.Reset(&c.out)
	if _, err := c.lz4.Write(b); err != nil {
		return err
	}
	return c.lz4.Close()
}
