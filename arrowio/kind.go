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
	switch format := Sniff(head); format {
	case FormatArrowStream:
		return StreamKind, "", nil
	case FormatArrowFile:
		return FileKind, "", nil
	case FormatUnknown:
		return 0, "write it with an Arrow library (older than 0.15 is too old)", errors.New("is neither an Arrow stream nor an Arrow file")
	case FormatText:
		return textFault(head)
	default:
		return 0, instead[format], errors.New("is not Arrow but looks like " + string(format))
	}
}

// instead is what to do about an input in another format.
var instead = map[Format]string{
	FormatParquet:    "read it with mars-featurize",
	FormatFeatherV1:  "write Feather version 2, which is an Arrow file",
	FormatNPY:        "read it with mars-featurize",
	FormatZip:        "unpack it, or read npz with mars-featurize",
	FormatIDX:        "read it with mars-featurize",
	FormatHDF5:       "convert it to Arrow",
	FormatMATLAB:     "convert it to Arrow",
	FormatFCS:        "convert it to Arrow",
	FormatExcel:      "save it as CSV",
	FormatSQLite:     "write its table as Arrow",
	FormatR:          "write its table as Arrow",
	FormatORC:        "convert it to Arrow",
	FormatAvro:       "convert it to Arrow",
	FormatPDF:        "give the data that it shows",
	FormatPickle:     "write Arrow instead",
	FormatGzip:       "decompress it first: gzip -dc FILE | …",
	FormatZstd:       "decompress it first: zstd -dc FILE | …",
	FormatLZ4:        "decompress it first: lz4 -dc FILE | …",
	FormatBzip2:      "decompress it first: bzip2 -dc FILE | …",
	FormatXZ:         "decompress it first: xz -dc FILE | …",
	FormatJPEG:       "convert it to an array of images",
	FormatPNG:        "convert it to an array of images",
	FormatHTML:       "download the file itself",
	FormatLFSPointer: "fetch the file itself with git lfs pull",
}

// textFault refuses text for what it looks like.
func textFault(head []byte) (Kind, string, error) {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \t\r\n")
	switch {
	case len(text) > 0 && (text[0] == '{' || text[0] == '['):
		return 0, "convert it to Arrow", errors.New("is not Arrow but looks like JSON")
	case bytes.ContainsAny(head, ",;\t"):
		return 0, "read it with mars-featurize", errors.New("is not Arrow but looks like CSV")
	}
	return 0, "a table is read with mars-featurize; a program that prints to standard output spoils its stream", errors.New("is not Arrow but looks like text")
}
