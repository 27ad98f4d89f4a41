package arrowio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
)

// A stream ends with a trailer, behind the end marker, where other readers do not look: a magic
// word, the trailer's length, its version, and the CRC-32C of all bytes before the trailer, each
// number of 32 bits with the low byte first. The magic word begins with the end marker of old
// streams, for readers that look for a second stream: there is none.
const (
	trailerMagic   = "\x00\x00\x00\x00MARS"
	trailerSize    = len(trailerMagic) + 12
	trailerVersion = 1
)

var (
	castagnoli  = crc32.MakeTable(crc32.Castagnoli)
	errChecksum = errors.New("is damaged: its bytes do not fit the checksum at its end")
	errGoesOn   = errors.New("goes on after its end: something else was written after the stream")
)

// checksum is the CRC-32C of what has been read or written.
type checksum uint32

func (c checksum) after(b []byte) checksum {
	return checksum(crc32.Update(uint32(c), castagnoli, b))
}

// then is the checksum of what c is of, with n bytes behind it whose own is next. A CRC is the
// remainder of a polynomial over GF(2), so c is multiplied by x^8n.
func (c checksum) then(next checksum, n int) checksum {
	power := uint32(1 << 30) // x: bit 31 is that of x^0
	for range 3 {
		power = product(power, power) // x^8
	}
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			c = checksum(product(power, uint32(c)))
		}
		power = product(power, power)
	}
	return c ^ next
}

// product is a·b modulo the polynomial of CRC-32C.
func product(a, b uint32) (p uint32) {
	for ; a != 0; a <<= 1 {
		p ^= b & -(a >> 31)
		b = b>>1 ^ crc32.Castagnoli&-(b&1)
	}
	return p
}

// trailer is what follows the bytes that c is of.
func (c checksum) trailer() []byte {
	b := []byte(trailerMagic)
	for _, n := range []uint32{uint32(trailerSize), trailerVersion, uint32(c)} {
		b = binary.LittleEndian.AppendUint32(b, n)
	}
	return b
}

// checkEnd reads what follows the bytes that c is of: nothing, as other programs write, or a
// trailer that fits them.
func (c checksum) checkEnd(r io.Reader) error {
	b := make([]byte, trailerSize+1)
	n, err := io.ReadFull(r, b[:1]) // of something else no more is waited for
	if err == io.EOF {
		return nil
	}
	if err == nil && b[0] == trailerMagic[0] {
		n, err = io.ReadFull(r, b[1:])
		n++
	}
	switch {
	case err != nil && err != io.ErrUnexpectedEOF && err != io.EOF:
		return plainCause(err)
	case !strings.HasPrefix(string(b[:n]), trailerMagic):
		return errGoesOn
	case n < trailerSize:
		return errors.New("ends in the middle of its checksum")
	case n > trailerSize || binary.LittleEndian.Uint32(b[len(trailerMagic):]) != uint32(trailerSize):
		return errGoesOn
	}
	if v := binary.LittleEndian.Uint32(b[len(trailerMagic)+4:]); v != trailerVersion {
		return fmt.Errorf("ends with a checksum of version %d, and this program reads version %d", v, trailerVersion)
	}
	if checksum(binary.LittleEndian.Uint32(b[len(trailerMagic)+8:])) != c {
		return errChecksum
	}
	return nil
}
