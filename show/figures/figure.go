package figures

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
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

	width  vg.Length // that it is drawn in
	narrow bool      // whether it can be drawn as narrow as a telephone
	layout layout
	bare   layout // without the words that a page has beside it; nil if there are none
}

// A layout draws in a width, and says how high that becomes.
type layout func(width vg.Length) (height vg.Length, drawing func(draw.Canvas))

// high is the layout of what has one height, however wide it is.
func high(height vg.Length, drawing func(draw.Canvas)) layout {
	return func(vg.Length) (vg.Length, func(draw.Canvas)) { return height, drawing }
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

// Write writes the figure in one of Formats, on white.
func (f *Figure) Write(w io.Writer, format string) error {
	height, drawing := f.layout(f.width)
	switch format {
	case ".svg":
		text, err := f.svg(f.width, height, drawing)
		if err != nil {
			return err
		}
		_, err = io.WriteString(w, xmlHead+root(text, f.words(""), f.width, height, `width="`+points(f.width)+`pt" height="`+points(height)+`pt" style="background:white"`))
		return err
	case ".png", ".pdf":
		return writeDrawn(w, format, f.width, height, drawing)
	}
	return fmt.Errorf("format %q: want one of %s", format, strings.Join(Formats, ", "))
}

const xmlHead = `<?xml version="1.0" encoding="UTF-8"?>` + "\n"

// Narrow is the width of a figure on a telephone, in points.
const Narrow = 250

// Inline is the figure as elements of an HTML page, with the page's colour where it is black on
// white: of class wide, as wide as there is room, and of class narrow, for a telephone, if it can be
// drawn so. A page shows one of them. A figure of very many points is drawn once. Identities in it begin with id.
func (f *Figure) Inline(id string) (string, error) {
	if !f.narrow {
		return f.inline(id, f.words(id), f.width, fmt.Sprintf(`style="max-width:%[1]spt;min-width:min(%[1]spt,max(30rem,%[2]spt))"`, points(f.width), points(readable*f.width)))
	}
	wide, err := f.inline(id, f.words(id), f.width, fmt.Sprintf(`class="wide" style="max-width:%spt"`, points(f.width)))
	if err != nil {
		return "", err
	}
	if len(wide) > maxTwice {
		return f.inline(id, f.words(id), Narrow, fmt.Sprintf(`style="max-width:%dpt"`, Narrow*3/2))
	}
	narrow, err := f.inline(id, "", Narrow, fmt.Sprintf(`class="narrow" style="max-width:%dpt"`, Narrow))
	return wide + narrow, err
}

func (f *Figure) inline(id, words string, width vg.Length, attributes string) (string, error) {
	layout := f.layout
	if f.bare != nil {
		layout = f.bare
	}
	height, drawing := layout(width)
	text, err := f.svg(width, height, drawing)
	if err != nil {
		return "", err
	}
	text = strings.ReplaceAll(text, "stroke:#000000", "stroke:currentColor")
	text = strings.ReplaceAll(text, "#333333", "currentColor") // the palette's black
	text = strings.ReplaceAll(text, "fill:#FFFFFF", "fill:var(--page)")
	return root(text, words, width, height, fmt.Sprintf(`role="img" aria-labelledby="%s-title %[1]s-text" %s fill="currentColor"`, id, attributes)), nil
}

const (
	// readable is the part of its width below which the words of a figure are too small to read: a
	// narrow page scrolls it.
	readable = 0.65
	// maxTwice is how many bytes a figure has that is drawn twice: a larger one is drawn as for a
	// telephone, for all screens.
	maxTwice = 100 << 10
)

// svg is what is inside of the figure's element.
func (f *Figure) svg(width, height vg.Length, drawing func(draw.Canvas)) (string, error) {
	c := vgsvg.New(width, height)
	drawing(draw.New(c))
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
	inside := fontFamily.ReplaceAllString(unseen.ReplaceAllString(text[begin:end], ""), "font-family:"+family)
	return textElement.ReplaceAllStringFunc(inside, func(element string) string {
		parts := textElement.FindStringSubmatch(element)
		width := pen(0, 0, ink).Width(html.UnescapeString(parts[2]))
		return fmt.Sprintf(`<text textLength="%s" lengthAdjust="spacingAndGlyphs"%s>%s</text>`, points(width), parts[1], parts[2])
	}), nil
}

// textElement matches a line of text, which keeps the width that it was given room for in any
// font.
var textElement = regexp.MustCompile(`<text([^>]*)>([^<]+)</text>`)

// unseen matches what is drawn in no colour, whose colour is no valid one.
var unseen = regexp.MustCompile(`<path d="[^"]*" style="fill:[^"]*;fill-opacity:0" />\n?`)

var fontFamily = regexp.MustCompile(`font-family:[^;"]*`)

// family is that of text in SVG: what there is.
const family = "'Liberation Sans', Arial, Helvetica, sans-serif"

// root is the element, with its words: title and description.
func root(inside, words string, width, height vg.Length, attributes string) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 %s %s" %s>`+"\n%s%s</svg>\n",
		points(width), points(height), attributes, words, inside)
}

// words are the title and the description, with identities that begin with id, if it is not "".
func (f *Figure) words(id string) string {
	names := [2]string{}
	if id != "" {
		names = [2]string{` id="` + id + `-title"`, ` id="` + id + `-text"`}
	}
	return fmt.Sprintf("<title%s>%s</title>\n<desc%s>%s</desc>", names[0], html.EscapeString(safetext.Escape(f.Title)), names[1], html.EscapeString(safetext.Escape(f.Text)))
}

func points(l vg.Length) string { return fmt.Sprintf("%.4g", l.Points()) }
