package figures

import (
	"cmp"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A sheet is panels side by side, with a legend and a note below.
type sheet struct {
	title string
	note  string // what was left out, and how the figure was made

	panels []*plot.Plot
	perRow int  // panels at most; 0 means most of all
	wide   bool // the only panel has many names along its axis
	legend []entry
}

// An entry of a legend is a mark with its meaning.
type entry struct {
	label  string
	colour color.Color
	mark   mark
}

const (
	panelSide  = 9 * vg.Centimeter
	mostPanels = 3 // in a row
	margin     = 3 * vg.Millimeter
	lineHeight = 14 // of legend and note, in points
)

// figure is the sheet as a figure of a kind, with the numbers that are shown.
func (f *sheet) figure(kind string, numbers Table) *Figure {
	most := min(len(f.panels), cmp.Or(f.perRow, mostPanels))
	result := &Figure{Kind: kind, Title: f.title, Text: f.note, Table: numbers, width: vg.Length(most)*panelSide + 2*margin, narrow: true}
	if f.wide {
		result.width = 1.8*panelSide + 2*margin
	}
	of := func(title, note string) layout {
		return func(width vg.Length) (height vg.Length, drawing func(draw.Canvas)) {
			cols := max(1, min(most, int((width-2*margin)/panelSide+0.01)))
			rows := (len(f.panels) + cols - 1) / cols
			legend, words := f.flow(width-2*margin), wrap(note, width-2*margin)
			below, above := vg.Length(len(legend)+len(words))*lineHeight+margin, vg.Length(0)
			if title != "" {
				above = lineHeight + margin
			}
			return vg.Length(rows)*panelSide + below + above + 2*margin,
				func(c draw.Canvas) { f.draw(c, cols, rows, title, above, below, legend, words) }
		}
	}
	result.layout, result.bare = of(f.title, f.note), of("", "")
	return result
}

func (f *sheet) draw(c draw.Canvas, cols, rows int, title string, above, below vg.Length, legend [][]placed, note []string) {
	c = draw.Crop(c, margin, -margin, margin, -margin)
	style := pen(text.XLeft, text.YBottom, ink)
	style.YAlign = text.YTop
	if title != "" {
		c.FillText(style, vg.Point{X: c.Min.X, Y: c.Max.Y}, title)
	}
	y := c.Min.Y + below - margin
	for _, line := range legend {
		y -= lineHeight
		for _, e := range line {
			at := vg.Point{X: c.Min.X + e.x + markRoom/2, Y: y + lineHeight/3}
			e.mark.draw(&c, []vg.Point{at}, e.colour)
			c.FillText(pen(text.XLeft, text.YBottom, ink), vg.Point{X: c.Min.X + e.x + markRoom, Y: y}, e.label)
		}
	}
	for _, line := range note {
		y -= lineHeight
		c.FillText(pen(text.XLeft, text.YBottom, ink), vg.Point{X: c.Min.X, Y: y}, line)
	}
	f.drawPanels(draw.Crop(c, 0, 0, below, -above), cols, rows)
}

func (f *sheet) drawPanels(c draw.Canvas, cols, rows int) {
	plots := make([][]*plot.Plot, rows)
	for i := range plots {
		plots[i] = make([]*plot.Plot, cols)
		copy(plots[i], f.panels[i*cols:min((i+1)*cols, len(f.panels))])
	}
	tiles := draw.Tiles{Rows: rows, Cols: cols, PadX: margin, PadY: margin}
	for i, line := range plot.Align(plots, tiles, c) {
		for j, tile := range line {
			if plots[i][j] != nil {
				plots[i][j].Draw(tile)
			}
		}
	}
}

// newPanel is a panel with a title.
func newPanel(title string) *plot.Plot {
	p := newPlot()
	p.Title.Text, p.Title.TextStyle, p.Title.Padding = title, pen(text.XLeft, text.YBottom, ink), vg.Millimeter
	p.Title.TextStyle.XAlign, p.Title.TextStyle.YAlign = text.XCenter, text.YTop
	return p
}

const (
	markRoom  = 12 // points before the words of an entry
	entryRoom = 10 // after them
)

// placed is an entry with its place in its line.
type placed struct {
	entry
	x vg.Length
}

// flow sets the legend in lines.
func (f *sheet) flow(width vg.Length) (lines [][]placed) {
	var line []placed
	x := vg.Length(0)
	for _, e := range f.legend {
		room := markRoom + pen(text.XLeft, text.YBottom, ink).Width(e.label) + entryRoom
		if x+room > width && line != nil {
			lines, line, x = append(lines, line), nil, 0
		}
		line, x = append(line, placed{e, x}), x+room
	}
	if line != nil {
		lines = append(lines, line)
	}
	return lines
}

// wrap sets words in lines.
func wrap(words string, width vg.Length) (lines []string) {
	line := ""
	for _, word := range strings.Fields(words) {
		if line != "" && pen(text.XLeft, text.YBottom, ink).Width(line+" "+word) > width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// colourOf is the colour of class or method k: those of Okabe and Ito but yellow, which is
// faint in small marks, and then shades by the golden angle.
func colourOf(k int) color.NRGBA {
	known := []color.NRGBA{blue, vermilion, green, purple, orange, sky, {0x33, 0x33, 0x33, 0xff}, {0x8C, 0x6D, 0x31, 0xff}}
	if k < len(known) {
		return known[k]
	}
	hue := math.Mod(float64(k)*0.381966, 1)
	light := []float64{.35, .5, .65}[k%3]
	channel := func(shift float64) uint8 {
		h := math.Mod(hue+shift, 1) * 6
		v := min(max(min(h, 4-h), 0), 1)
		return uint8(255 * (light + .7*min(light, 1-light)*(2*v-1)))
	}
	return color.NRGBA{channel(1. / 3), channel(0), channel(2. / 3), 255}
}

// A mark is how a point is drawn.
type mark int

const (
	ring mark = iota
	triangle
	square
	diamond
)

// draw draws all points in one path: a file of thousands stays small.
func (m mark) draw(c vg.Canvas, points []vg.Point, colour color.Color) {
	const radius = 2
	var p vg.Path
	for _, at := range points {
		switch m {
		case ring:
			p.Move(vg.Point{X: at.X + radius, Y: at.Y})
			p.Arc(at, radius, 0, 2*math.Pi)
		case triangle:
			p.Move(vg.Point{X: at.X - radius, Y: at.Y - radius*0.6})
			p.Line(vg.Point{X: at.X + radius, Y: at.Y - radius*0.6})
			p.Line(vg.Point{X: at.X, Y: at.Y + radius*1.2})
		case diamond:
			p.Move(vg.Point{X: at.X - 1.4*radius, Y: at.Y})
			p.Line(vg.Point{X: at.X, Y: at.Y - 1.4*radius})
			p.Line(vg.Point{X: at.X + 1.4*radius, Y: at.Y})
			p.Line(vg.Point{X: at.X, Y: at.Y + 1.4*radius})
		case square:
			p.Move(vg.Point{X: at.X - radius, Y: at.Y - radius})
			p.Line(vg.Point{X: at.X + radius, Y: at.Y - radius})
			p.Line(vg.Point{X: at.X + radius, Y: at.Y + radius})
			p.Line(vg.Point{X: at.X - radius, Y: at.Y + radius})
		}
		p.Close()
	}
	c.SetColor(colour)
	if m == ring {
		c.SetLineWidth(0.7)
		c.SetLineDash(nil, 0)
		c.Stroke(p)
		return
	}
	c.Fill(p)
}

// cloud is a plotter of points.
type cloud struct {
	xs, ys []float64
	colour color.Color
	mark   mark
}

func (d *cloud) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	points := make([]vg.Point, len(d.xs))
	for i := range points {
		points[i] = vg.Point{X: x(d.xs[i]), Y: y(d.ys[i])}
	}
	if len(points) > 0 {
		d.mark.draw(&c, points, d.colour)
	}
}

func (d *cloud) DataRange() (xmin, xmax, ymin, ymax float64) {
	if len(d.xs) == 0 {
		return math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	}
	return slices.Min(d.xs), slices.Max(d.xs), slices.Min(d.ys), slices.Max(d.ys)
}
