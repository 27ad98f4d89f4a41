// Package write writes rows as the files that other programs read: CSV, TSV, JSON,
// JSON lines and Parquet, by the name of the file.
package write

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/arrowio/atomicfile"
)

// Arrow is the format of files that this package leaves to arrowio.
const Arrow = "arrow"

// Formats are the names of the formats.
var Formats = []string{Arrow, "csv", "tsv", "json", "jsonl", "parquet"}

// endings are the formats by the ending of a file's name.
var endings = map[string]string{
	"arrow": Arrow, "arrows": Arrow, "feather": Arrow, "ipc": Arrow,
	"csv": "csv", "tsv": "tsv", "json": "json", "jsonl": "jsonl", "ndjson": "jsonl", "parquet": "parquet", "pq": "parquet",
}

// compressions are what text can be compressed by, by the ending of a file's name.
var compressions = []string{"gz", "zst"}

// Format is how a table is written.
type Format struct {
	Name        string // one of Formats
	Compression string // "gz", "zst", or "" for none
	Spreadsheet bool   // see CSVOptions
	Headless    bool   // see CSVOptions
}

// FormatOf is the format that a file's name asks for: Arrow for standard output, devices
// and names without an ending. An ending that is not known is an error.
func FormatOf(path string) (Format, error) {
	if path == "" || path == "-" || strings.HasPrefix(path, "/dev/") {
		return Format{Name: Arrow}, nil
	}
	name := strings.ToLower(path[strings.LastIndexByte(path, '/')+1:])
	parts := strings.Split(strings.TrimLeft(name, "."), ".")
	f := Format{}
	if last := parts[len(parts)-1]; len(parts) > 2 && slices.Contains(compressions, last) {
		f.Compression, parts = last, parts[:len(parts)-1]
	}
	if len(parts) == 1 {
		return Format{Name: Arrow}, nil
	}
	ending := parts[len(parts)-1]
	f.Name = endings[ending]
	switch {
	case f.Name == "":
		return f, fmt.Errorf("%s: a file that ends in .%s is not written: name it .csv, .tsv, .json, .jsonl, .parquet, .arrow or .arrows; text can be compressed, as in .csv.gz or .csv.zst", path, ending)
	case f.Compression != "" && (f.Name == Arrow || f.Name == "parquet"):
		return f, fmt.Errorf("%s: %s is compressed inside the file: leave .%s out", path, f.Name, f.Compression)
	}
	return f, nil
}

// Save writes the rows of src to a file, whole or not at all.
func Save(ctx context.Context, path string, f Format, src arrowio.Stream) error {
	return atomicfile.Write(path, func(w io.Writer) error { return Write(ctx, w, f, src) })
}

// Object writes one JSON object for people and programs to read.
func Object(w io.Writer, object any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(object)
}

// SaveReport writes a report to a file, whole or not at all: as JSON what whole writes, and
// in the other formats the rows of a batch. It does not write Arrow.
func SaveReport(ctx context.Context, path string, f Format, whole func(io.Writer) error, rows func() (arrow.Record, error)) error {
	if f.Name == "json" && f.Compression == "" {
		return atomicfile.Write(path, whole)
	}
	rec, err := rows()
	if err != nil {
		return err
	}
	defer rec.Release()
	return Save(ctx, path, f, arrowio.NewBatches("report", rec.Schema(), rec))
}

// Write writes the rows of src. It does not write Arrow.
func Write(ctx context.Context, w io.Writer, f Format, src arrowio.Stream) error {
	out, err := compressed(w, f.Compression)
	if err != nil {
		return err
	}
	switch f.Name {
	case "csv":
		err = CSVOptions{Spreadsheet: f.Spreadsheet, Headless: f.Headless}.Write(ctx, out, src)
	case "tsv":
		err = CSVOptions{Spreadsheet: f.Spreadsheet, Separator: '\t', Headless: f.Headless}.Write(ctx, out, src)
	case "json", "jsonl":
		err = writeJSON(ctx, out, f.Name == "json", src)
	case "parquet":
		err = writeParquet(ctx, out, src)
	default:
		return fmt.Errorf("there is no format %q to write: choose one of %v", f.Name, Formats[1:])
	}
	return errors.Join(err, out.Close())
}

// plain is a writer that needs no closing.
type plain struct{ io.Writer }

func (plain) Close() error { return nil }

func compressed(w io.Writer, by string) (io.WriteCloser, error) {
	switch by {
	case "gz":
		return gzip.NewWriter(w), nil
	case "zst":
		return zstd.NewWriter(w)
	}
	return plain{w}, nil
}

// writeJSON writes an object a row: in an array, or each on a line of its own.
func writeJSON(ctx context.Context, w io.Writer, asArray bool, src arrowio.Stream) error {
	out := bufio.NewWriter(w)
	separator, end := "", "\n"
	if asArray {
		separator, end = "[\n", "\n]\n"
	}
	first := true
	err := arrowio.Each(ctx, src, func(rec arrow.Record) error {
		var lines bytes.Buffer
		if err := array.RecordToJSON(rec, &lines); err != nil {
			return fmt.Errorf("%s: cannot be written as JSON: %w", src.Name(), err)
		}
		for line := range bytes.Lines(lines.Bytes()) {
			out.WriteString(separator) //nolint:errcheck // Flush says it
			out.Write(bytes.TrimSuffix(line, []byte("\n")))
			if separator, first = "\n", false; asArray {
				separator = ",\n"
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if first && asArray {
		end = "[]\n"
	} else if first {
		end = ""
	}
	out.WriteString(end) //nolint:errcheck // Flush says it
	return out.Flush()
}

// rowGroup is the number of rows of a group in a Parquet file, which is held in memory
// until it is written.
const rowGroup = 1 << 16

func writeParquet(ctx context.Context, w io.Writer, src arrowio.Stream) error {
	properties := parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy), parquet.WithMaxRowGroupLength(rowGroup))
	out, err := pqarrow.NewFileWriter(src.Schema(), w, properties, pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		return fmt.Errorf("cannot be written as Parquet: %w", err)
	}
	return errors.Join(arrowio.Each(ctx, src, out.WriteBuffered), out.Close())
}
