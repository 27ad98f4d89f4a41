package figures

import (
	"fmt"
	"image/color"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The colours of Okabe & Ito (2008).
var (
	blue      = color.NRGBA{0x00, 0x72, 0xB2, 0xff}
	orange    = color.NRGBA{0xE6, 0x9F, 0x00, 0xff}
	vermilion = color.NRGBA{0xD5, 0x5E, 0x00, 0xff}
	green     = color.NRGBA{0x00, 0x9E, 0x73, 0xff}
	sky       = color.NRGBA{0x56, 0xB4, 0xE9, 0xff}
	purple    = color.NRGBA{0xCC, 0x79, 0xA7, 0xff}
	yellow    = color.NRGBA{0xF0, 0xE4, 0x42, 0xff}
	grey      = color.NRGBA{0x80, 0x80, 0x80, 0xff}
	ink       = color.Gray{0} // becomes the page's own
)

// Palette is the colours of several things, in the order in which they are taken.
var Palette = []color.Color{blue, orange, green, vermilion, purple, sky, grey, yellow}

// dashes tell lines apart as the palette does.
var dashes = [][]vg.Length{nil, {6, 3}, {2, 2}, {8, 3, 2, 3}, {4, 2}, {1, 3}, {10, 3}, {3, 5}}

// fontSize is that of all text, but for titles of axes.
const fontSize = 10

var sans = font.Font{Typeface: "Liberation", Variant: "Sans", Size: fontSize}

// pens is how text is written: hung at a point by its sides.
func pen(x text.XAlignment, y text.YAlignment, c color.Color) text.Style {
	return text.Style{Color: c, Font: sans, XAlign: x, YAlign: y, Handler: plot.DefaultTextHandler}
}

// newPlot is an empty plot in the style of all.
func newPlot() *plot.Plot {
	p := plot.New()
	p.BackgroundColor = color.Transparent
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font, a.Tick.Label.Font = sans, sans
		a.Label.Padding = 4
		a.Color, a.Tick.Color, a.Tick.Label.Color, a.Label.TextStyle.Color = grey, grey, ink, ink
		a.LineStyle.Color, a.Tick.LineStyle.Color = grey, grey
		a.Tick.Length = 3
	}
	p.Legend.TextStyle.Font = sans
	return p
}

// A drawing is a plotter that is a function.
type drawing func(c draw.Canvas, p *plot.Plot)

func (d drawing) Plot(c draw.Canvas, p *plot.Plot) { d(c, p) }

// at is a point of the plot on the canvas.
func at(c *draw.Canvas, p *plot.Plot, x, y float64) vg.Point {
	tx, ty := p.Transforms(c)
	return vg.Point{X: tx(x), Y: ty(y)}
}

// fillBox fills a rectangle, and boxes strokes its edge.
func fillBox(c draw.Canvas, a, b vg.Point, fill color.Color) {
	c.FillPolygon(fill, []vg.Point{a, {X: b.X, Y: a.Y}, b, {X: a.X, Y: b.Y}})
}

func strokeBox(c draw.Canvas, a, b vg.Point, line draw.LineStyle) {
	c.StrokeLines(line, []vg.Point{a, {X: b.X, Y: a.Y}, b, {X: a.X, Y: b.Y}, a})
}

func lineOf(c color.Color, width vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: width}
}

// shade is a colour as strong as a share, 0 to 1, says.
func shade(c color.NRGBA, share float64) color.Color {
	c.A = uint8(math.Round(255 * min(max(share, 0), 1)))
	return c
}

// A key is an entry of a legend.
type key struct {
	name string
	draw func(c draw.Canvas, middle vg.Point)
}

// keyHeight is the height of a line of a legend.
const keyHeight = 18

// placeKeys gives the entries of a legend of some width their places, from its top left.
func placeKeys(keys []key, width vg.Length) (places []vg.Point, height vg.Length) {
	style := pen(text.XLeft, text.YCenter, ink)
	x, y := vg.Length(4), vg.Length(keyHeight/2)
	for _, k := range keys {
		room := 20 + style.Width(k.name)
		if x > 4 && x+room > width {
			x, y = 4, y+keyHeight
		}
		places = append(places, vg.Point{X: x, Y: y})
		x += room + 18
	}
	return places, y + keyHeight/2 + 4
}

// drawKeys draws a legend at the top of the canvas, and returns what is left.
func drawKeys(c draw.Canvas, keys []key) draw.Canvas {
	places, height := placeKeys(keys, c.Max.X-c.Min.X)
	for i, k := range keys {
		at := vg.Point{X: c.Min.X + places[i].X, Y: c.Max.Y - places[i].Y}
		k.draw(c, vg.Point{X: at.X + 8, Y: at.Y})
		c.FillText(pen(text.XLeft, text.YCenter, ink), vg.Point{X: at.X + 20, Y: at.Y}, k.name)
	}
	return draw.Crop(c, 0, 0, 0, -height)
}

// keyed is the layout of what has one height and a legend above it, if there are keys.
func keyed(keys []key, height vg.Length, drawing func(draw.Canvas)) layout {
	if len(keys) == 0 {
		return high(height, drawing)
	}
	return func(width vg.Length) (vg.Length, func(draw.Canvas)) {
		_, legend := placeKeys(keys, width)
		return legend + height, func(c draw.Canvas) { drawing(drawKeys(c, keys)) }
	}
}

// swatch is a filled square of a legend.
func swatch(fill color.Color) func(draw.Canvas, vg.Point) {
	return func(c draw.Canvas, m vg.Point) {
		fillBox(c, vg.Point{X: m.X - 7, Y: m.Y - 4}, vg.Point{X: m.X + 7, Y: m.Y + 4}, fill)
	}
}

func glyph(style draw.GlyphStyle) func(draw.Canvas, vg.Point) {
	return func(c draw.Canvas, m vg.Point) { c.DrawGlyph(style, m) }
}

func stroke(style draw.LineStyle) func(draw.Canvas, vg.Point) {
	return func(c draw.Canvas, m vg.Point) { c.StrokeLine2(style, m.X-9, m.Y, m.X+9, m.Y) }
}

// categories are ticks with names, the first at the top of an axis of n.
func categories(names []string, top bool) plot.ConstantTicks {
	ticks := make(plot.ConstantTicks, len(names))
	for i, name := range names {
		ticks[i] = plot.Tick{Value: float64(i), Label: shorten(name)}
		if top {
			ticks[i].Value = float64(len(names) - 1 - i)
		}
	}
	return ticks
}

// maxName is how many characters of a name a figure has room for; its table has all.
const maxName = 24

func shorten(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, name)
	if r := []rune(name); len(r) > maxName {
		return string(r[:maxName-1]) + "…"
	}
	return name
}

// percentTicks are some ticks of shares from 0 to largest.
type percentTicks struct{}

func (percentTicks) Ticks(low, high float64) []plot.Tick {
	step := 0.2
	for _, s := range []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2} {
		if (high-low)/s <= 6 {
			step = s
			break
		}
	}
	var ticks []plot.Tick
	for k := math.Ceil(low/step-1e-9) + 0; k*step <= high+1e-9; k++ { // + 0: not −0
		ticks = append(ticks, plot.Tick{Value: k * step, Label: percent(k*step, step)})
	}
	return ticks
}

// percent is a share with as many decimals as the step needs.
func percent(share, step float64) string {
	decimals := 0
	if step < 0.0099 {
		decimals = 1
	}
	return strconv.FormatFloat(100*share, 'f', decimals, 64) + " %"
}

func share(p float64) string { return strconv.FormatFloat(100*p, 'f', 1, 64) + " %" }

// whole is a count with the thousands apart.
func whole(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + " " + digits[i:] // a thin space
	}
	return digits
}

func number(v float64) string { return fmt.Sprintf("%.4g", v) }
