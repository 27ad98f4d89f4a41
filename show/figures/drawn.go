//go:build !js

package figures

import (
	"bytes"
	"image/color"
	"io"
	"regexp"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
)

// dots is the resolution of PNG, in dots an inch.
const dots = 192

// writeDrawn writes a drawing as PNG or PDF.
func writeDrawn(w io.Writer, format string, width, height vg.Length, drawing func(draw.Canvas)) error {
	if format == ".png" {
		c := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dots), vgimg.UseBackgroundColor(color.White))
		drawing(draw.New(c))
		_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
		return err
	}
	c := vgpdf.New(width, height)
	drawing(draw.New(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return err
	}
	_, err := w.Write(dateOfPDF.ReplaceAll(b.Bytes(), []byte("/$1 (D:19700101000000)")))
	return err
}

// dateOfPDF matches when a PDF was made: the same figure is to have the same bytes.
var dateOfPDF = regexp.MustCompile(`/(CreationDate|ModDate) \(D:\d{14}\)`)
