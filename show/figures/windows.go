package figures

import (
	"errors"
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"

	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages/check"
)

// Accuracy draws the accuracy that is to be expected of each window, with its interval, and that of
// the reference.
func Accuracy(r *check.Report) (*Figure, error) {
	reference := r.Reference[0].Value
	if reference == nil || len(r.Windows) == 0 {
		return nil, errors.New("holds no windows")
	}
	f := &Figure{Kind: "accuracy", Title: "Accuracy by window", width: usualWidth, narrow: true,
		Text: fmt.Sprintf("The accuracy that is to be expected of %s, with intervals that hold the true one with a probability of %s, and that of the reference. Rings are windows that cannot be believed.",
			spelling.Count(len(r.Windows), "window", "windows"), percent(r.Level, 1)),
		Table: Table{Head: []string{"window", "begins", "ends", "rows", "accuracy", "lower", "upper", "verdict"}}}
	low := *reference
	for _, w := range r.Windows {
		row := []string{whole(w.Window), w.Start, w.End, whole(int(w.Counts.All)), "", "", "", string(w.Verdict)}
		if a := w.Accuracy(); a.Value != nil {
			row[4], row[5], row[6] = number(*a.Value), number(*a.Lower), number(*a.Upper)
			low = min(low, *a.Lower)
		}
		f.Table.Rows = append(f.Table.Rows, row)
	}
	ring := draw.GlyphStyle{Color: vermilion, Radius: 3.5, Shape: draw.RingGlyph{}}
	dot := draw.GlyphStyle{Color: blue, Radius: 3, Shape: draw.CircleGlyph{}}
	dashed := draw.LineStyle{Color: grey, Width: 1, Dashes: dashes[1]}
	keys := []key{{"expected, with interval", glyph(dot)}, {"not to be believed", glyph(ring)}, {"reference", stroke(dashed)}}
	f.layout = keyed(keys, 230, func(c draw.Canvas) {
		p := newPlot()
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0.5, float64(len(r.Windows))+0.5, max(0, low-0.03), 1
		p.X.Label.Text, p.Y.Label.Text, p.X.Tick.Marker, p.Y.Tick.Marker = "window", "accuracy", wholeTicks{}, plot.DefaultTicks{}
		p.Add(drawing(func(c draw.Canvas, p *plot.Plot) {
			a, b := at(&c, p, p.X.Min, *reference), at(&c, p, p.X.Max, *reference)
			c.StrokeLine2(dashed, a.X, a.Y, b.X, b.Y)
			for i, w := range r.Windows {
				figure, mark := w.Accuracy(), dot
				if figure.Value == nil {
					continue
				}
				if !w.Believed() {
					mark = ring
				}
				x := float64(i + 1)
				low, high := at(&c, p, x, *figure.Lower), at(&c, p, x, *figure.Upper)
				c.StrokeLine2(draw.LineStyle{Color: mark.Color, Width: 1.2}, low.X, low.Y, high.X, high.Y)
				c.DrawGlyph(mark, at(&c, p, x, *figure.Value))
			}
		}))
		p.Draw(c)
	})
	return f, nil
}
