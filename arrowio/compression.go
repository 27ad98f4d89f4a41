package arrowio

import (
	"fmt"
	"strconv"
	"strings"
)

// Codec is how the buffers of a batch are compressed.
type Codec int

// The codecs of Arrow IPC.
const (
	None Codec = iota
	LZ4
	Zstd
)

func (c Codec) String() string { return [...]string{"none", "lz4", "zstd"}[c] }

// Compression is a codec and its level. The zero value does not compress, which
// every Arrow reader understands (nanoarrow for R reads nothing else).
type Compression struct {
	Codec Codec
	Level int // lz4 1 to 9, zstd 1 to 22; 0 means the codec's default
}

// ParseCompression reads "none", "lz4", "zstd", or a codec with its level, as
// in "zstd:9".
func ParseCompression(s string) (Compression, error) {
	name, level, hasLevel := strings.Cut(s, ":")
	top, ok := map[string]int{"none": 0, "lz4": 9, "zstd": 22}[name]
	if !ok {
		return Compression{}, fmt.Errorf("compression %q: is unknown: use none, lz4 or zstd", s)
	}
	c := Compression{Codec: map[string]Codec{"none": None, "lz4": LZ4, "zstd": Zstd}[name]}
	if !hasLevel {
		return c, nil
	}
	if top == 0 {
		return Compression{}, fmt.Errorf("compression %q: %s has no levels: leave the level out", s, name)
	}
	n, err := strconv.Atoi(level)
	if err != nil || n < 1 || n > top {
		return Compression{}, fmt.Errorf("compression %q: the levels of %s are 1 to %d: give one of them", s, name, top)
	}
	c.Level = n
	return c, nil
}

// String is the form that ParseCompression reads.
func (c Compression) String() string {
	if c.Level == 0 {
		return c.Codec.String()
	}
	return c.Codec.String() + ":" + strconv.Itoa(c.Level)
}
