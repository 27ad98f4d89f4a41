package arrowio

import (
	"bytes"
	"io"
	"os"
)

// SniffLength is how many first bytes of a file are enough to tell what it holds.
const SniffLength = 512

// streamMagic is what the first message of a stream begins with.
const streamMagic = "\xff\xff\xff\xff"

// IsArrow reports whether an input that begins with head is an Arrow stream or file.
func IsArrow(head []byte) bool {
	return bytes.HasPrefix(head, []byte(streamMagic)) || bytes.HasPrefix(head, []byte(magic))
}

// IsArrowFile is IsArrow of the file at path.
func IsArrowFile(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, SniffLength)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return false, err
	}
	return IsArrow(head[:n]), nil
}

// A Namer says by the first bytes of an input that is not Arrow what it looks like ("a
// Parquet file"), and what to do about it. looksLike is "" if it cannot tell.
type Namer func(head []byte) (looksLike, advice string)

var foreign Namer = func([]byte) (string, string) { return "", "" }

// NotArrow is the error of an input that is not Arrow but looks like something else.
type NotArrow struct{ LooksLike string }

func (e NotArrow) Error() string { return "is not Arrow but looks like " + e.LooksLike }

// RegisterForeign registers what names the inputs that are refused since they are not Arrow,
// as decoders are registered in package image: this package knows no other format. It is
// called when a program starts.
func RegisterForeign(n Namer) { foreign = n }
