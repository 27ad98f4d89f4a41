package figures

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Epochs are the figures of a training: a value an epoch. Critic has NaN where there was none.
type Epochs struct {
	Classes     []string
	Epoch       []float64
	Loss        []float64
	Accuracy    []float64 // on the source's batches
	Critic      []float64
	Proportions [][]float64 // p_T in use, a value a class; nil in an epoch without
}

// A line of a figure.
type curve struct {
	name string
	y    []float64
}

// Losses draws the classification loss.
func Losses(e *Epochs) (*Figure, error) {
	return e.figure("losses", "Loss by epoch", "The classification loss, as it was minimised, in each epoch.", "loss", []curve{{"classification loss", e.Loss}}, plot.DefaultTicks{})
}

// CriticDistance draws what the critic tells the domains apart by.
func CriticDistance(e *Epochs) (*Figure, error) {
	return e.figure("critic", "Distance of the domains by epoch", "What the critic tells the embeddings of source and target apart by, in each epoch in which they were aligned.", "distance", []curve{{"critic's distance", e.Critic}}, plot.DefaultTicks{})
}

// Trace draws p_T as training used it.
func Trace(e *Epochs) (*Figure, error) {
	if len(e.Classes) == 0 {
		return nil, errors.New("holds no proportions of classes: the method estimates none")
	}
	var curves []curve
	last := make([]float64, len(e.Classes))
	for k, class := range e.Classes {
		c := curve{name: class}
		for _, p := range e.Proportions {
			if p == nil {
				c.y = append(c.y, math.NaN())
				continue
			}
			c.y = append(c.y, p[k])
			last[k] = p[k]
		}
		curves = append(curves, c)
	}
	order := largest(last, len(Palette))
	var drawn []curve
	for _, k := range order {
		drawn = append(drawn, curves[k])
	}
	f, err := e.figure("proportions", "Proportions by epoch", "The class proportions of the target that training used in each epoch.", "share", drawn, percentTicks{})
	if err == nil && len(order) < len(curves) {
		f.Notes = append(f.Notes, fmt.Sprintf("Drawn are the %d classes with the largest shares of %d.", len(order), len(curves)))
	}
	return f, err
}

func (e *Epochs) figure(kind, title, words, axis string, curves []curve, marker plot.Ticker) (*Figure, error) {
	low, high, there := 0.0, 0.0, false
	f := &Figure{Kind: kind, Title: title, Text: words, width: usualWidth, narrow: true, Table: Table{Head: []string{"epoch"}}}
	for _, c := range curves {
		f.Table.Head = append(f.Table.Head, c.name)
		for _, v := range c.y {
			if v == v {
				low, high, there = min(low, v), max(high, v), true
			}
		}
	}
	if !there {
		return nil, fmt.Errorf("has no figures of %s: the method has none", axis)
	}
	for i, epoch := range e.Epoch {
		row := []string{number(epoch)}
		for _, c := range curves {
			if c.y[i] == c.y[i] {
				row = append(row, number(c.y[i]))
			} else {
				row = append(row, "")
			}
		}
		f.Table.Rows = append(f.Table.Rows, row)
	}
	var keys []key
	if len(curves) > 1 {
		for k, c := range curves {
			keys = append(keys, key{shorten(c.name), stroke(lineStyle(k))})
		}
	}
	f.layout = keyed(keys, 230, func(c draw.Canvas) {
		p := newPlot()
		p.X.Min, p.X.Max = e.Epoch[0], max(e.Epoch[len(e.Epoch)-1], e.Epoch[0]+1)
		p.Y.Min, p.Y.Max = low, high+0.05*(high-low)+1e-9
		p.X.Label.Text, p.Y.Label.Text, p.Y.Tick.Marker, p.X.Tick.Marker = "epoch", axis, marker, wholeTicks{}
		p.Add(drawing(func(c draw.Canvas, p *plot.Plot) {
			for k, curve := range curves {
				var line []vg.Point
				for i, v := range curve.y {
					if v == v {
						line = append(line, at(&c, p, e.Epoch[i], v))
						continue
					}
					c.StrokeLines(lineStyle(k), line)
					line = nil
				}
				if len(line) == 1 {
					c.DrawGlyph(draw.GlyphStyle{Color: Palette[k%len(Palette)], Radius: 2.5, Shape: draw.CircleGlyph{}}, line[0])
				}
				c.StrokeLines(lineStyle(k), line)
			}
		}))
		p.Draw(c)
	})
	return f, nil
}

// lineStyle is that of curve k.
func lineStyle(k int) draw.LineStyle {
	return draw.LineStyle{Color: Palette[k%len(Palette)], Width: 1.75, Dashes: dashes[k%len(dashes)]}
}
