package format

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"mars.dev/mars/arrowio"
)

// A kind is a file format.
type kind string

const (
	kindIDX     kind = "IDX"
	kindNPY     kind = "a NumPy array (npy)"
	kindNPZ     kind = "a NumPy archive (npz)"
	kindParquet kind = "Parquet"
	kindArrow   kind = "Arrow"
	kindText    kind = "a text table"
)

// extensions are those that claim a kind. Others claim none.
var extensions = map[string]kind{
	".npy": kindNPY, ".npz": kindNPZ, ".csv": kindText, ".tsv": kindText,
	".parquet": kindParquet, ".arrow": kindArrow, ".arrows": kindArrow, ".feather": kindArrow,
}

// kinds are the formats that can be read.
var kinds = map[arrowio.Format]kind{
	arrowio.FormatNPY: kindNPY, arrowio.FormatZip: kindNPZ, arrowio.FormatParquet: kindParquet, arrowio.FormatIDX: kindIDX,
	arrowio.FormatArrowFile: kindArrow, arrowio.FormatArrowStream: kindArrow, arrowio.FormatText: kindText,
}

// remedies are what to do about files that are often given by mistake.
var remedies = map[arrowio.Format]string{
	arrowio.FormatLFSPointer: "fetch the file itself with git lfs pull",
	arrowio.FormatHTML:       "download the file itself",
	arrowio.FormatHDF5:       "save its arrays with numpy.savez",
	arrowio.FormatMATLAB:     "save its arrays with numpy.savez",
	arrowio.FormatPickle:     "save its arrays with numpy.savez",
	arrowio.FormatZstd:       "decompress it, or compress it with gzip",
	arrowio.FormatLZ4:        "decompress it, or compress it with gzip",
	arrowio.FormatBzip2:      "decompress it, or compress it with gzip",
	arrowio.FormatXZ:         "decompress it, or compress it with gzip",
	arrowio.FormatGzip:       "it is compressed twice: decompress it once",
	arrowio.FormatJPEG:       "give the folder of the images, a table or an array",
	arrowio.FormatPNG:        "give the folder of the images, a table or an array",
	arrowio.FormatFeatherV1:  "write it again with a newer version",
}

// tell returns the kind of a file that begins with head. Text that is not UTF-8 may
// have the encoding, or be an error when it is read. It fails if the file's name
// claims another kind.
func tell(head []byte, name, encoding string) (kind, error) {
	if len(head) == 0 {
		return "", errors.New("is empty: check what wrote it")
	}
	found, err := tellContent(head, encoding)
	if err != nil {
		return "", err
	}
	ext := strings.ToLower(filepath.Ext(name))
	if claimed, ok := extensions[ext]; ok && claimed != found {
		return "", fmt.Errorf("is named %s but holds %s: rename it, or check what wrote it", ext, found)
	}
	return found, nil
}

func tellContent(head []byte, encoding string) (kind, error) {
	format := arrowio.Sniff(head)
	if format == arrowio.FormatUnknown && (encoding != "" && encoding != Encodings[0] || maybeText(head)) {
		return kindText, nil
	}
	if k, ok := kinds[format]; ok {
		return k, nil
	}
	if remedy, ok := remedies[format]; ok {
		return "", fmt.Errorf("holds %s, which cannot be read: %s", format, remedy)
	}
	return "", fmt.Errorf("begins with bytes % x, which is no kind of file that can be read: give IDX, npy, npz, CSV, TSV, Parquet or Arrow", head[:min(8, len(head))])
}
