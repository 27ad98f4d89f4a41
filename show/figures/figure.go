package figures

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"mars.dev/mars/arrowio/safetext"
)

// A Figure is a drawing with the words and numbers that go with it.
type Figure struct {
	Kind  string // one of Kinds
	Title string // a few words
	Text  string // what it shows, in a sentence or two, for people who read and for those who listen
	Notes []string
	Table Table // the numbers that are shown

	width, height vg.Length
	draw          func(draw.Canvas)
	// bare draws it, lower, without the words that a page has beside it; nil if there are none.
	bare       func(draw.Canvas)
	bareHeight vg.Length
}

// A Table is the numbers of a figure.
type Table struct {
	Head []string
	Rows [][]string
}

// Formats are the endings of the names of files that Write writes.
var Formats = []string{".svg", ".png", ".pdf"}

// FormatOf is the format of a file by its name.
func FormatOf(path string) (string, error) {
	ending := strings.ToLower(filepath.Ext(path))
	if !slices.Contains(Formats, ending) {
		return "", fmt.Errorf("%s: name it %s", path, strings.Join(Formats, ", "))
	}
	return ending, nil
}

// dots is the resolution of PNG, in dots an inch.
const dots = 192

// Write writes the figure in one of Formats, on white.
func (f *Figure) Write(w io.Writer, format string) error {
	switch format {
	case ".svg":
		text, err := f.svg()
		if err != nil {
			return err
		}
		_, err = io.WriteString(w, xmlHead+f.root(text, `width="`+points(f.width)+`pt" height="`+points(f.height)+`pt" style="background:white"`))
		return err
	case ".png":
		c := vgimg.NewWith(vgimg.UseWH(f.width, f.height), vgimg.UseDPI(dots), vgimg.UseBackgroundColor(color.White))
		f.draw(draw.New(c))
		_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
		return err
	case ".pdf":
		c := vgpdf.New(f.width, f.height)
		f.draw(draw.New(c))
		var b bytes.Buffer
		if _, err := c.WriteTo(&b); err != nil {
			return err
		}
		_, err := w.Write(dateOfPDF.ReplaceAll(b.Bytes(), []byte("/$1 (D:19700101000000)")))
		return err
	}
	return fmt.Errorf("format %q: want one of %s", format, strings.Join(Formats, ", "))
}

// dateOfPDF matches when a PDF was made: the same figure is to have the same bytes.
var dateOfPDF = regexp.MustCompile(`/(CreationDate|ModDate) \(D:\d{14}\)`)

const xmlHead = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"

// Inline is the figure as an element of an HTML page: as wide as there is room, and with the
// page's colour where it is black on white. Identities in it begin with id.
func (f *Figure) Inline(id string) (string, error) {
	if f.bare != nil {
		b := *f
		b.draw, b.height, b.bare = f.bare, f.bareHeight, nil
		return b.Inline(id)
	}
	text, err := f.svg()
	if err != nil {
		return "", err
	}
	text = strings.ReplaceAll(text, "stroke:#000000", "stroke:currentColor")
	text = strings.ReplaceAll(text, "#333333", "currentColor") // the palette's black
	text = strings.ReplaceAll(text, "fill:#FFFFFF", "fill:var(--page)")
	return f.root(text, fmt.Sprintf(`role="img" aria-labelledby="%s-title %[1]s-text" style="max-width:%[2]spt;min-width:min(%[2]spt,max(30rem,%[3]spt))" fill="currentColor"`, id, points(f.width), points(readable*f.width)), id), nil
}

// readable is the part of its width below which the words of a figure are too small to read: a
// narrow page scrolls it.
const readable = 0.65

// svg is what is inside of the figure's element.
func (f *Figure) svg() (string, error) {
	c := vgsvg.New(f.width, f.height)
	f.draw(draw.New(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return "", err
	}
	text := safetext.EscapeLines(b.String()) // names that turn the text around
	begin := strings.Index(text, "<svg")
	if begin < 0 {
		return "", fmt.Errorf("figure %s: no SVG was drawn", f.Kind)
	}
	begin += strings.IndexByte(text[begin:], '>') + 1
	end := strings.LastIndex(text, "</svg>")
	inside := fontFamily.ReplaceAllString(text[begin:end], "font-family:"+family)
	return textElement.ReplaceAllStringFunc(inside, func(element string) string {
		parts := textElement.FindStringSubmatch(element)
		width := pen(0, 0, ink).Width(html.UnescapeString(parts[2]))
		return fmt.Sprintf(`<text textLength="%s" lengthAdjust="spacingAndGlyphs"%s>%s</text>`, points(width), parts[1], parts[2])
	}), nil
}

// textElement matches a line of text, which keeps the width that it was given room for in any
// font.
var textElement = regexp.MustCompile(`<text([^>]*)>([^<]+)</text>`)

var fontFamily = regexp.MustCompile(`font-family:[^;"]*`)

// family is that of text in SVG: what there is.
const family = "'Liberation Sans', Arial, Helvetica, sans-serif"

// root is the element with its title and its description.
func (f *Figure) root(inside, attributes string, id ...string) string {
	names := [2]string{}
	if len(id) > 0 {
		names = [2]string{` id="` + id[0] + `-title"`, ` id="` + id[0] + `-text"`}
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 %s %s" %s>`+"\n<title%s>%s</title>\n<desc%s>%s</desc>%s</svg>\n",
		points(f.width), points(f.height), attributes, names[0], html.EscapeString(safetext.Escape(f.Title)), names[1], html.EscapeString(safetext.Escape(f.Text)), inside)
}

func points(l vg.Length) string { return fmt.Sprintf("%.4g", l.Points()) }
