package label

import (
	"context"
	"io"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/tables/write"
)

// Formats are what labels can be written as.
var Formats = write.Formats

// Format is how labels are written.
type Format = write.Format

// Arrow is the format in which posteriors stay vectors.
const Arrow = write.Arrow

// FormatOf is the format that a file's name asks for.
func FormatOf(path string) (Format, error) { return write.FormatOf(path) }

// Write writes the rows of src, labels in columns of the usual names, flat.
func Write(ctx context.Context, w io.Writer, f Format, src arrowio.Stream) error {
	flat, err := NewFlat(src, arrowio.DefaultColumns().Probability)
	if err != nil {
		return err
	}
	return write.Write(ctx, w, f, flat)
}
