package arrowio

import (
	"bytes"
	"errors"
	"unicode/utf8"
)

// Kind is how an input is laid out.
type Kind int

// The two layouts of Arrow IPC.
const (
	StreamKind Kind = iota // messages one after the other, ends with a marker
	FileKind               // the same between two magics, with a footer that points at them
)

func (k Kind) String() string {
	if k == FileKind {
		return "Arrow file"
	}
	return "Arrow stream"
}

// sniffLength is how many bytes tell the layouts apart.
const sniffLength = 8

// look-alikes by their first bytes, with what to do about each.
var lookalikes = []struct{ prefix, what, advice string }{
	{"\x1f\x8b", "a gzip file", "decompress it first: gzip -dc FILE | …"},
	{"\x28\xb5\x2f\xfd", "a zstd file", "decompress it first: zstd -dc FILE | …"},
	{"\x04\x22\x4d\x18", "an lz4 file", "decompress it first: lz4 -dc FILE | …"},
	{"BZh", "a bzip2 file", "decompress it first: bzip2 -dc FILE | …"},
	{"PK\x03\x04", "a zip archive (npz and xlsx are zip archives too)", "unpack it, or read npz with mars-featurize"},
	{"PAR1", "a Parquet file", "read it with mars-featurize"},
	{"\x93NUMPY", "a NumPy file", "read it with mars-featurize"},
	{"\x80\x02", "a Python pickle", "write Arrow instead"},
	{"\x80\x04", "a Python pickle", "write Arrow instead"},
	{"\x80\x05", "a Python pickle", "write Arrow instead"},
	{"FEA1", "a Feather version 1 file", "write Feather version 2, which is an Arrow file"},
	{"\x89HDF", "an HDF5 file", "convert it to Arrow"},
}

// sniff tells stream from file by the first bytes, fewer than sniffLength only
// where the input has no more.
func sniff(head []byte) (kind Kind, advice string, err error) {
	switch {
	case len(head) == 0:
		return 0, "the program before it wrote nothing: look at its errors", errors.New("is empty")
	case bytes.HasPrefix(head, []byte{0xff, 0xff, 0xff, 0xff}):
		return StreamKind, "", nil
	case bytes.HasPrefix(head, []byte("ARROW1")):
		return FileKind, "", nil
	}
	for _, l := range lookalikes {
		if bytes.HasPrefix(head, []byte(l.prefix)) {
			return 0, l.advice, errors.New("is not Arrow but looks like " + l.what)
		}
	}
	return sniffText(head)
}

func sniffText(head []byte) (Kind, string, error) {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	switch {
	case !isText(head):
		return 0, "write it with an Arrow library (older than 0.15 is too old)", errors.New("is neither an Arrow stream nor an Arrow file")
	case len(text) > 0 && (text[0] == '{' || text[0] == '['):
		return 0, "convert it to Arrow", errors.New("is not Arrow but looks like JSON")
	case bytes.ContainsAny(head, ",;\t"):
		return 0, "read it with mars-featurize", errors.New("is not Arrow but looks like CSV")
	default:
		return 0, "a table is read with mars-featurize; a program that prints to standard output spoils its stream", errors.New("is not Arrow but looks like text")
	}
}

// isText reports whether head could be the start of text.
func isText(head []byte) bool {
	for len(head) > 0 {
		r, n := utf8.DecodeRune(head)
		if r == utf8.RuneError && utf8.FullRune(head) {
			return false
		}
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' {
			return false
		}
		head = head[n:]
	}
	return true
}
