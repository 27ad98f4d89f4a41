package figures

import (
	"fmt"
	"io"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// writeDrawn refuses: pages have SVG, and a program in a browser is small.
func writeDrawn(_ io.Writer, format string, _, _ vg.Length, _ func(draw.Canvas)) error {
	return fmt.Errorf("format %q: a browser draws .svg alone", format)
}
