package figures

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Candidates are settings that a training chose among, with what scores without labels of the
// target said of each.
type Candidates struct {
	Settings []string   // names of flags
	Values   [][]string // of each candidate, one for each flag
	Scores   []string   // names; the first chose
	Of       [][]float64
	Seconds  []float64
	Failed   []string // why a candidate failed; "" if it did not
	Chosen   int
}

// Name is the settings of candidate i.
func (c *Candidates) Name(i int) string {
	var parts []string
	for k, name := range c.Settings {
		parts = append(parts, name+"="+c.Values[i][k])
	}
	return strings.Join(parts, " ")
}

const (
	maxCandidates = 60 // that are drawn
	scoreHeight   = 17 // a candidate's room
	scoreHead     = 22
	scoreFoot     = 22
	leastWidth    = 100 // of a score's column
	mostWidth     = 170
	columnGap     = 26
)

// chosenShade is what is behind the row of the chosen candidate.
var chosenShade = shade(sky, 0.3)

// Scores draws the scores of each candidate: a row a candidate, a column a score.
func Scores(c *Candidates) (*Figure, error) {
	switch {
	case len(c.Values) == 0 || len(c.Scores) == 0 || len(c.Settings) == 0:
		return nil, errors.New("holds no candidates with scores: run mars train --select again")
	case c.Chosen < 0 || c.Chosen >= len(c.Values):
		return nil, errors.New("says of no candidate that it was chosen: run mars train --select again")
	}
	drawn := c.drawn()
	f := &Figure{Kind: "scores", Title: "Scores of the candidates",
		Text: fmt.Sprintf("What scores that need no label of the target say of %d candidates; more is better. %s chose %s. Diamonds are the best by each score, which may have chosen another.",
			len(c.Values), c.Scores[0], c.Name(c.Chosen)),
		Table: c.table()}
	if len(drawn) < len(c.Values) {
		f.Notes = append(f.Notes, fmt.Sprintf("Drawn are the %d candidates with the best %s of %d; the table has all.", len(drawn), c.Scores[0], len(c.Values)))
	}
	style := pen(text.XLeft, text.YCenter, ink)
	var at []vg.Length // where the columns of settings begin
	x := vg.Length(4)
	for k, name := range c.Settings {
		width := style.Width(shorten(name))
		for _, i := range drawn {
			width = max(width, style.Width(shorten(c.Values[i][k])))
		}
		at, x = append(at, x), x+width+14
	}
	n := vg.Length(len(c.Scores))
	column := min(max((1.5*usualWidth-x)/n, leastWidth), mostWidth)
	for _, name := range c.Scores {
		column = max(column, style.Width(name)+columnGap)
	}
	keys := []key{
		{"candidate", glyph(draw.GlyphStyle{Color: blue, Radius: 3.5, Shape: draw.CircleGlyph{}})},
		{"best by the score", func(c draw.Canvas, m vg.Point) { diamondAt(c, m, 5.5, vermilion) }},
		{"chosen", swatch(chosenShade)},
	}
	f.width = x + n*column + 8
	f.layout = keyed(keys, scoreHead+vg.Length(len(drawn))*scoreHeight+scoreFoot, func(rest draw.Canvas) {
		top, left := rest.Max.Y-scoreHead, rest.Min.X
		for k, name := range c.Settings {
			rest.FillText(style, vg.Point{X: left + at[k], Y: top + scoreHead/2}, shorten(name))
		}
		for r, i := range drawn {
			y := top - vg.Length(r)*scoreHeight - scoreHeight/2
			if i == c.Chosen {
				fillBox(rest, vg.Point{X: left, Y: y - scoreHeight/2}, vg.Point{X: left + f.width - 2, Y: y + scoreHeight/2}, chosenShade)
			}
			for k := range c.Settings {
				rest.FillText(style, vg.Point{X: left + at[k], Y: y}, shorten(c.Values[i][k]))
			}
		}
		for s := range c.Scores {
			c.column(rest, s, drawn, left+x+vg.Length(s)*column, column, top)
		}
	})
	return f, nil
}

// drawn are the candidates that there is room for: those with the best first score, in their
// own order.
func (c *Candidates) drawn() []int {
	first := make([]float64, len(c.Values))
	for i := range first {
		first[i] = c.Of[i][0]
	}
	return largest(first, maxCandidates) // NaN is the least
}

// column draws a score of the candidates, along a scale of its own.
func (c *Candidates) column(canvas draw.Canvas, s int, drawn []int, left, width, top vg.Length) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, i := range drawn {
		if v := c.Of[i][s]; v == v {
			low, high = min(low, v), max(high, v)
		}
	}
	from, to := left+6, left+width-columnGap
	x := func(v float64) vg.Length {
		if high <= low {
			return (from + to) / 2
		}
		return from + (to-from)*vg.Length((v-low)/(high-low))
	}
	canvas.FillText(pen(text.XLeft, text.YCenter, ink), vg.Point{X: from - 4, Y: top + scoreHead/2}, c.Scores[s])
	for r, i := range drawn {
		y := top - vg.Length(r)*scoreHeight - scoreHeight/2
		canvas.StrokeLine2(lineOf(shade(grey, 0.5), 0.5), from, y, to, y)
		switch v := c.Of[i][s]; {
		case v != v:
			canvas.FillText(pen(text.XLeft, text.YCenter, ink), vg.Point{X: from, Y: y}, "failed")
		case v == high:
			diamondAt(canvas, vg.Point{X: x(v), Y: y}, 5.5, vermilion)
		default:
			canvas.DrawGlyph(draw.GlyphStyle{Color: blue, Radius: 3.5, Shape: draw.CircleGlyph{}}, vg.Point{X: x(v), Y: y})
		}
	}
	bottom := top - vg.Length(len(drawn))*scoreHeight - scoreFoot/2
	if low > high {
		return
	}
	canvas.FillText(pen(text.XLeft, text.YCenter, ink), vg.Point{X: from - 4, Y: bottom}, short(low))
	if low < high {
		canvas.FillText(pen(text.XRight, text.YCenter, ink), vg.Point{X: to + 6, Y: bottom}, short(high))
	}
}

func short(v float64) string { return fmt.Sprintf("%.3g", v) }

func diamondAt(c draw.Canvas, at vg.Point, r vg.Length, fill color.Color) {
	c.FillPolygon(fill, []vg.Point{{X: at.X - r, Y: at.Y}, {X: at.X, Y: at.Y - r}, {X: at.X + r, Y: at.Y}, {X: at.X, Y: at.Y + r}})
}

func (c *Candidates) table() Table {
	t := Table{Head: slices.Concat(c.Settings, c.Scores, []string{"seconds", "chosen", "failed"})}
	for i, values := range c.Values {
		row := slices.Clone(values)
		for _, v := range c.Of[i] {
			if v == v {
				row = append(row, fmt.Sprintf("%.4f", v))
			} else {
				row = append(row, "")
			}
		}
		chosen := ""
		if i == c.Chosen {
			chosen = "chosen"
		}
		t.Rows = append(t.Rows, append(row, number(c.Seconds[i]), chosen, c.Failed[i]))
	}
	return t
}
