package format

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"
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

// magics are the first bytes of the kinds that can be read.
var magics = []struct {
	prefix string
	kind   kind
}{
	{"\x93NUMPY", kindNPY},
	{"PK\x03\x04", kindNPZ},
	{"PK\x05\x06", kindNPZ},
	{"PAR1", kindParquet},
	{"ARROW1", kindArrow},
	{"\xff\xff\xff\xff", kindArrow},
}

// unreadable are the first bytes of files that are often given by mistake, and what
// to do about each.
var unreadable = []struct{ prefix, what, remedy string }{
	{"version https://git-lfs", "a Git LFS pointer", "fetch the file itself with git lfs pull"},
	{"<!DOCTYPE", "an HTML page", "download the file itself"},
	{"<html", "an HTML page", "download the file itself"},
	{"\x89HDF\r\n\x1a\n", "HDF5", "save its arrays with numpy.savez"},
	{"MATLAB 5.0", "a MATLAB file", "save its arrays with numpy.savez"},
	{"\x80\x02", "a Python pickle", "save its arrays with numpy.savez"},
	{"\x80\x03", "a Python pickle", "save its arrays with numpy.savez"},
	{"\x80\x04", "a Python pickle", "save its arrays with numpy.savez"},
	{"\x80\x05", "a Python pickle", "save its arrays with numpy.savez"},
	{"\x28\xb5\x2f\xfd", "zstd", "decompress it, or compress it with gzip"},
	{"BZh", "bzip2", "decompress it, or compress it with gzip"},
	{"\xfd7zXZ", "xz", "decompress it, or compress it with gzip"},
	{"\x1f\x8b", "gzip within gzip", "decompress it once"},
	{"\xff\xd8\xff", "a JPEG picture", "give a table or an array of images"},
	{"\x89PNG", "a PNG picture", "give a table or an array of images"},
	{"FEA1", "Feather version 1", "write it again with a newer version"},
}

// tell returns the kind of a file that begins with head. It fails if the file's
// name claims another kind.
func tell(head []byte, name string) (kind, error) {
	if len(head) == 0 {
		return "", errors.New("is empty: check what wrote it")
	}
	found, err := tellContent(head)
	if err != nil {
		return "", err
	}
	ext := strings.ToLower(filepath.Ext(name))
	if claimed, ok := extensions[ext]; ok && claimed != found {
		return "", fmt.Errorf("is named %s but holds %s: rename it, or check what wrote it", ext, found)
	}
	return found, nil
}

func tellContent(head []byte) (kind, error) {
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.prefix)) {
			return m.kind, nil
		}
	}
	for _, s := range unreadable {
		if bytes.HasPrefix(head, []byte(s.prefix)) {
			return "", fmt.Errorf("holds %s, which cannot be read: %s", s.what, s.remedy)
		}
	}
	if len(head) >= 4 && head[0] == 0 && head[1] == 0 {
		return kindIDX, nil
	}
	if isText(head) {
		return kindText, nil
	}
	return "", fmt.Errorf("begins with bytes % x, which is no kind of file that can be read: give IDX, npy, npz, CSV, TSV, Parquet or Arrow", head[:min(8, len(head))])
}

// isText reports whether head is UTF-8 without control characters. Its last
// character may be cut off.
func isText(head []byte) bool {
	for len(head) > 0 {
		r, n := utf8.DecodeRune(head)
		if r == utf8.RuneError && n == 1 {
			return !utf8.FullRune(head)
		}
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' {
			return false
		}
		head = head[n:]
	}
	return true
}
