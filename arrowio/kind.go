package arrowio

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
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

// KindByName is the layout that a file of that name is written in: that of a file if
// the name ends in .arrow or .feather, else that of a stream.
func KindByName(path string) Kind {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".arrow", ".feather":
		return FileKind
	}
	return StreamKind
}

// kindLength is how many bytes tell the layouts apart.
const kindLength = 8

// kindByContent tells stream from file by the first bytes, which are fewer than
// kindLength only where the input has no more. What is neither is refused.
func kindByContent(head []byte) (kind Kind, advice string, err error) {
	if len(head) == 0 {
		return 0, "the program before it wrote nothing: look at its errors", errors.New("is empty")
	}
	switch {
	case bytes.HasPrefix(head, []byte(streamMagic)):
		return StreamKind, "", nil
	case bytes.HasPrefix(head, []byte(magic)):
		return FileKind, "", nil
	}
	if looksLike, advice := foreign(head); looksLike != "" {
		return 0, advice, NotArrow{looksLike}
	}
	return 0, "write it with an Arrow library (older than 0.15 is too old)", errors.New("is neither an Arrow stream nor an Arrow file")
}
