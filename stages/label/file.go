package label

import (
	"context"
	"io"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages/internal/tables"
)

// Formats are what labels can be written as.
var Formats = tables.Formats

// Format is how labels are written.
type Format = tables.Format

// Arrow is the format in which posteriors stay vectors.
const Arrow = tables.Arrow

// FormatOf is the format that a file's name asks for.
func FormatOf(path string) (Format, error) { return tables.FormatOf(path) }

// Write writes the rows of src, labels in columns of the usual names, flat.
func Write(ctx context.Context, w io.Writer, f Format, src arrowio.Stream) error {
	flat, err := NewFlat(src, arrowio.DefaultColumns().Probability)
	if err != nil {
		return err
	}
	return tables.Write(ctx, w, f, flat)
}
