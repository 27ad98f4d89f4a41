package figures

import (
	"fmt"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"mars.dev/mars/stages/label"
)

const (
	movedBins   = 24
	movedWidth  = 150 // of a small figure, at least
	movedHeight = 110
)

// Moved draws the distributions of columns in source and target, each small.
func Moved(columns []label.Moved, source, target int) *Figure {
	f := &Figure{Kind: "moved", Title: "What differs most", width: usualWidth, narrow: true,
		Text: fmt.Sprintf("The columns in which source (bars) and target (line) differ most, of those that differ by more than chance explains, in samples of %s and %s rows. A column differs where classes have moved, and where their shares are others. The distance is by how much the shares of rows up to a value differ at most (Kolmogorov–Smirnov).",
			whole(source), whole(target)),
		Table: Table{Head: []string{"column", "distance", "source, middle half", "target, middle half"}}}
	for _, c := range columns {
		f.Table.Rows = append(f.Table.Rows, []string{c.Name, fmt.Sprintf("%.2f", c.Distance), middle(c.Source), middle(c.Target)})
	}
	keys := []key{{"source", swatch(shade(blue, 0.6))}, {"target", stroke(lineOf(vermilion, 1.5))}}
	f.layout = func(width vg.Length) (vg.Length, func(draw.Canvas)) {
		across := max(1, min(3, int(width/movedWidth)))
		down := (len(columns) + across - 1) / across
		return keyed(keys, vg.Length(down)*movedHeight, func(c draw.Canvas) {
			for i, column := range columns {
				side, top := (c.Max.X-c.Min.X)/vg.Length(across), c.Max.Y-vg.Length(i/across)*movedHeight
				left := c.Min.X + vg.Length(i%across)*side
				drawMoved(c, vg.Rectangle{Min: vg.Point{X: left + 4, Y: top - movedHeight + 28}, Max: vg.Point{X: left + side - 8, Y: top - 18}}, column)
			}
		})(width)
	}
	return f
}

// middle is between which values the middle half of some in order lies.
func middle(sorted []float64) string {
	n := len(sorted)
	return fmt.Sprintf("%s to %s", number(sorted[n/4]), number(sorted[(3*n)/4]))
}

// drawMoved draws a column into a box, with its name above and the range below.
func drawMoved(c draw.Canvas, box vg.Rectangle, column label.Moved) {
	low, high := ends(column.Source, column.Target)
	bars, line := shares(column.Source, low, high), shares(column.Target, low, high)
	most := 0.0
	for k := range bars {
		most = max(most, bars[k], line[k])
	}
	wide, place := (box.Max.X-box.Min.X)/movedBins, func(k int, share float64) vg.Point {
		return vg.Point{X: box.Min.X + vg.Length(k)*(box.Max.X-box.Min.X)/movedBins, Y: box.Min.Y + (box.Max.Y-box.Min.Y)*vg.Length(share/most)}
	}
	var steps []vg.Point
	for k := range bars {
		if bars[k] > 0 {
			top := place(k, bars[k])
			fillBox(c, vg.Point{X: top.X, Y: box.Min.Y}, vg.Point{X: top.X + wide, Y: top.Y}, shade(blue, 0.6))
		}
		at := place(k, line[k])
		steps = append(steps, at, vg.Point{X: at.X + wide, Y: at.Y})
	}
	c.StrokeLine2(lineOf(grey, 1), box.Min.X, box.Min.Y, box.Max.X, box.Min.Y)
	c.StrokeLines(lineOf(vermilion, 1.5), steps)
	c.FillText(pen(text.XLeft, text.YBottom, ink), vg.Point{X: box.Min.X, Y: box.Max.Y + 4}, shorten(column.Name))
	c.FillText(pen(text.XLeft, text.YTop, ink), vg.Point{X: box.Min.X, Y: box.Min.Y - 4}, number(low))
	c.FillText(pen(text.XRight, text.YTop, ink), vg.Point{X: box.Max.X, Y: box.Min.Y - 4}, number(high))
}

// ends are those of the axis of values in order: what is farther out than nearly all stands in the last bins.
func ends(a, b []float64) (low, high float64) {
	far := func(v []float64) int { return len(v) / 100 }
	low, high = min(a[far(a)], b[far(b)]), max(a[len(a)-1-far(a)], b[len(b)-1-far(b)])
	if low == high {
		return low - 0.5, high + 0.5
	}
	return low, high
}

// shares are those of the values in each bin.
func shares(values []float64, low, high float64) []float64 {
	bins := make([]float64, movedBins)
	for _, v := range values {
		k := min(max((v-low)/(high-low)*movedBins, 0), movedBins-1)
		bins[int(k)] += 1 / float64(len(values))
	}
	return bins
}
