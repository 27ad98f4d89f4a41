package label

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"mars/arrowio"
)

// Formats are what labels can be written as.
var Formats = []string{"arrow", "parquet", "csv"}

// FormatOf is the format that a file's name asks for; arrow if none.
func FormatOf(path string) string {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".parquet", ".pq":
		return "parquet"
	case ".csv":
		return "csv"
	}
	return "arrow"
}

// Write writes the rows of src, labels in columns of the usual names, flat as CSV or
// Parquet, o says how.
func Write(ctx context.Context, w io.Writer, format string, src arrowio.Stream, o arrowio.CSVOptions) error {
	flat, err := NewFlat(src, arrowio.DefaultColumns().Probability)
	if err != nil {
		return err
	}
	switch format {
	case "csv":
		return o.Write(ctx, w, flat)
	case "parquet":
		return writeParquet(ctx, w, flat)
	}
	return fmt.Errorf("there is no format %q to write: choose one of %v", format, Formats[1:])
}

func writeParquet(ctx context.Context, w io.Writer, src arrowio.Stream) error {
	properties := parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Snappy))
	out, err := pqarrow.NewFileWriter(src.Schema(), w, properties, pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		return fmt.Errorf("cannot be written as Parquet: %w", err)
	}
	return errors.Join(arrowio.Each(ctx, src, out.WriteBuffered), out.Close())
}
