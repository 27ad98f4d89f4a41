package windows

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/tables/write"
)

// Formats are what windows can be written as: a table to read, and rows for programs.
var Formats = []string{"text", "csv", "tsv", "jsonl", write.Arrow}

// FormatOf is the format that a file's name asks for; "text" for standard output and
// names that end in .txt.
func FormatOf(path string) (string, error) {
	if path == "" || path == "-" || strings.HasSuffix(path, ".txt") {
		return "text", nil
	}
	f, err := write.FormatOf(path)
	switch {
	case err != nil:
		return "", err
	case f.Compression != "" || f.Name == "json" || f.Name == "parquet":
		return "", fmt.Errorf("%s: windows are written one by one, which that format cannot: name it .csv, .tsv, .jsonl, .arrows or .txt", path)
	}
	return f.Name, nil
}

// Lines are how windows are written: as lines to read, and as batches of one row.
type Lines[W any] interface {
	WriteLine(io.Writer, W) error
	Record(W) arrow.Record
	Schema() *arrow.Schema
}

// A Writer writes windows as they end.
type Writer[W any] struct {
	lines  Lines[W]
	format string
	out    io.Writer
	begun  bool
	arrow  *arrowio.Writer
}

// NewWriter writes in one of Formats. begun says that out has windows already.
func NewWriter[W any](lines Lines[W], out io.Writer, name, format string, begun bool) *Writer[W] {
	o := &Writer[W]{lines: lines, format: format, out: out, begun: begun}
	if format == write.Arrow {
		o.arrow = arrowio.NewWriter(out, name, arrowio.WriteOptions{})
	}
	return o
}

// Write writes a window at once.
func (o *Writer[W]) Write(ctx context.Context, w W) error {
	if o.format == "text" {
		return o.lines.WriteLine(o.out, w)
	}
	rec := o.lines.Record(w)
	defer rec.Release()
	if o.arrow != nil {
		if !o.begun {
			o.begun = true
			if err := o.arrow.Begin(rec.Schema()); err != nil {
				return err
			}
		}
		return o.arrow.Write(rec)
	}
	var b bytes.Buffer
	if err := write.Write(ctx, &b, write.Format{Name: o.format, Headless: o.begun}, arrowio.NewBatches("window", rec.Schema(), rec)); err != nil {
		return err
	}
	o.begun = true
	_, err := o.out.Write(b.Bytes())
	return err
}

// Close ends the output.
func (o *Writer[W]) Close() error {
	if o.arrow == nil {
		return nil
	}
	if !o.begun {
		if err := o.arrow.Begin(o.lines.Schema()); err != nil {
			return err
		}
	}
	return o.arrow.Close()
}
