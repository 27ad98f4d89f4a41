package arrowio

import (
	"bytes"
	"io"
	"os"
	"unicode/utf8"
)

// A Format is what a file holds, in the words of an error: "a Parquet file".
type Format string

// The formats that Sniff tells apart.
const (
	FormatUnknown     Format = ""
	FormatArrowStream Format = "an Arrow stream"
	FormatArrowFile   Format = "an Arrow file"
	FormatParquet     Format = "a Parquet file"
	FormatFeatherV1   Format = "a Feather version 1 file"
	FormatNPY         Format = "a NumPy array"
	FormatZip         Format = "a zip archive (npz and xlsx are zip archives too)"
	FormatIDX         Format = "an IDX file"
	FormatHDF5        Format = "an HDF5 file"
	FormatMATLAB      Format = "a MATLAB file"
	FormatFCS         Format = "an FCS file of a flow cytometer"
	FormatExcel       Format = "an old Excel file (xls)"
	FormatSQLite      Format = "an SQLite database"
	FormatR           Format = "a file of R objects (rds, RData)"
	FormatORC         Format = "an ORC file"
	FormatAvro        Format = "an Avro file"
	FormatPDF         Format = "a PDF document"
	FormatPickle      Format = "a Python pickle"
	FormatGzip        Format = "a gzip file"
	FormatZstd        Format = "a zstd file"
	FormatLZ4         Format = "an lz4 file"
	FormatBzip2       Format = "a bzip2 file"
	FormatXZ          Format = "an xz file"
	FormatJPEG        Format = "a JPEG picture"
	FormatPNG         Format = "a PNG picture"
	FormatHTML        Format = "an HTML page"
	FormatLFSPointer  Format = "a Git LFS pointer"
	FormatText        Format = "text"
)

// IsArrow reports whether Open reads the format.
func (f Format) IsArrow() bool { return f == FormatArrowStream || f == FormatArrowFile }

// beginnings are the first bytes of the formats, those of text formats before
// text itself.
var beginnings = []struct {
	prefix string
	format Format
}{
	{"\xff\xff\xff\xff", FormatArrowStream},
	{magic, FormatArrowFile},
	{"PAR1", FormatParquet},
	{"FEA1", FormatFeatherV1},
	{"\x93NUMPY", FormatNPY},
	{"PK\x03\x04", FormatZip},
	{"PK\x05\x06", FormatZip}, // without a member
	{"\x89HDF", FormatHDF5},
	{"MATLAB 5.0", FormatMATLAB},
	{"MATLAB 7.3", FormatMATLAB}, // HDF5 after 512 bytes
	{"FCS2.0", FormatFCS},
	{"FCS3.", FormatFCS},
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", FormatExcel},
	{"SQLite format 3\x00", FormatSQLite},
	{"RDX2\n", FormatR},
	{"RDX3\n", FormatR},
	{"X\n\x00\x00\x00", FormatR},
	{"ORC", FormatORC},
	{"Obj\x01", FormatAvro},
	{"%PDF-", FormatPDF},
	{"\x80\x02", FormatPickle},
	{"\x80\x03", FormatPickle},
	{"\x80\x04", FormatPickle},
	{"\x80\x05", FormatPickle},
	{"\x1f\x8b", FormatGzip},
	{"\x28\xb5\x2f\xfd", FormatZstd},
	{"\x04\x22\x4d\x18", FormatLZ4},
	{"BZh", FormatBzip2},
	{"\xfd7zXZ", FormatXZ},
	{"\xff\xd8\xff", FormatJPEG},
	{"\x89PNG", FormatPNG},
	{"<!DOCTYPE", FormatHTML},
	{"<html", FormatHTML},
	{"version https://git-lfs", FormatLFSPointer},
}

// SniffLength is how many first bytes of a file are enough for Sniff.
const SniffLength = 512

// Sniff tells what a file holds by its first bytes. An empty file is text.
func Sniff(head []byte) Format {
	for _, b := range beginnings {
		if bytes.HasPrefix(head, []byte(b.prefix)) {
			return b.format
		}
	}
	switch {
	case len(head) >= 4 && head[0] == 0 && head[1] == 0 && head[2] != 0: // then the type of its elements
		return FormatIDX
	case isText(head):
		return FormatText
	}
	return FormatUnknown
}

// SniffFile tells what the file at path holds.
func SniffFile(path string) (Format, error) {
	f, err := os.Open(path)
	if err != nil {
		return FormatUnknown, err
	}
	defer f.Close()
	head := make([]byte, SniffLength)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return FormatUnknown, err
	}
	return Sniff(head[:n]), nil
}

// isText reports whether head is UTF-8 without control characters. Its last
// character may be cut.
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
