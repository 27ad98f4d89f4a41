package figures

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/proportions"
)

const (
	// maxBars is how many classes a figure of bars shows: those with the largest shares.
	maxBars    = 40
	barHeight  = 30 // a class' room
	usualWidth = 480
	axisHeight = 40
)

// Shares draws the shares of the classes in source and target, with their intervals and what
// each estimator says.
func Shares(r *proportions.Report) (*Figure, error) {
	n := len(r.Classes)
	p := r.Proportions
	if n == 0 || len(p.Estimated) != n || len(p.Source) != n || len(r.Interval.Lower) != n || len(r.Interval.Upper) != n || p.True != nil && len(p.True) != n {
		return nil, errors.New("holds a report of proportions whose shares are not those of its classes: run mars proportions --json again")
	}
	order := r.Listed()
	order = order[:min(n, maxBars)]
	f := &Figure{Kind: "shares", Title: "Class proportions", width: usualWidth, narrow: true,
		Text:  fmt.Sprintf("Shares of %d classes in %s rows of the target, with intervals that hold the true share with a probability of %s, and their shares in the source.", n, whole(r.TargetRows), percent(r.Interval.Level, 1)),
		Table: sharesTable(r)}
	if len(order) < n {
		rest := 1.0
		for _, k := range order {
			rest -= p.Estimated[k]
		}
		f.Notes = append(f.Notes, fmt.Sprintf("Drawn are the %d classes with the largest shares of %d. The others have %s together; the table has all.", len(order), n, share(max(0, rest))))
	}
	names := make([]string, len(order))
	for i, k := range order {
		names[i] = r.Classes[k]
	}
	opinions, weights, said := slices.Sorted(maps.Keys(r.Estimators)), r.Weights(), "assumptions (area: weight)"
	if r.Method != hedge.Method {
		said = "other estimators"
	}
	keys := []key{{"target", swatch(blue)}, {fmt.Sprintf("%s interval", percent(r.Interval.Level, 1)), whisker}, {"source", func(c draw.Canvas, m vg.Point) {
		strokeBox(c, vg.Point{X: m.X - 7, Y: m.Y - 3}, vg.Point{X: m.X + 7, Y: m.Y + 3}, lineOf(orange, 1.5))
	}}}
	if len(opinions) > 0 {
		keys = append(keys, key{said, func(c draw.Canvas, m vg.Point) { opinion(c, m, 1) }})
	}
	if p.True != nil {
		keys = append(keys, key{"truth", truth})
	}
	f.layout = keyed(keys, axisHeight+vg.Length(len(order))*barHeight, func(c draw.Canvas) {
		pl := newPlot()
		pl.X.Min, pl.X.Max = 0, greatest(r, order)
		pl.X.Tick.Marker = percentTicks{}
		pl.Y.Min, pl.Y.Max = -0.5, float64(len(order))-0.5
		pl.Y.Tick.Marker, pl.Y.Tick.Length = categories(names, true), 0
		pl.Add(drawing(func(c draw.Canvas, pl *plot.Plot) {
			for i, k := range order {
				y := float64(len(order) - 1 - i)
				fillBox(c, at(&c, pl, 0, y-0.05), at(&c, pl, p.Estimated[k], y+0.38), blue)
				strokeBox(c, at(&c, pl, 0, y-0.36), at(&c, pl, p.Source[k], y-0.12), lineOf(orange, 1.5))
				middle := y + 0.165
				low, high := at(&c, pl, r.Interval.Lower[k], middle), at(&c, pl, r.Interval.Upper[k], middle)
				c.StrokeLine2(lineOf(ink, 1.5), low.X, low.Y, high.X, high.Y)
				for _, end := range []vg.Point{low, high} {
					c.StrokeLine2(lineOf(ink, 1.5), end.X, end.Y-4, end.X, end.Y+4)
				}
				for _, name := range opinions {
					opinion(c, at(&c, pl, r.Estimators[name][k], middle), weights[name])
				}
				if p.True != nil {
					truth(c, at(&c, pl, p.True[k], middle))
				}
			}
		}))
		pl.Draw(c)
	})
	for _, name := range opinions {
		if len(r.Estimators[name]) != n {
			return nil, fmt.Errorf("holds shares of %q for %d of %d classes: run mars proportions --json again", name, len(r.Estimators[name]), n)
		}
	}
	return f, nil
}

// truth draws what is true, on any colour.
func truth(c draw.Canvas, at vg.Point) {
	diamondAt(c, at, 7, paper)
	diamondAt(c, at, 5, vermilion)
}

// opinion draws what an assumption or an estimator says: its area is its weight, 0 to 1.
func opinion(c draw.Canvas, at vg.Point, weight float64) {
	radius := vg.Length(1 + 3.5*math.Sqrt(weight))
	c.DrawGlyph(draw.GlyphStyle{Color: paper, Radius: radius, Shape: draw.CircleGlyph{}}, at)
	c.DrawGlyph(draw.GlyphStyle{Color: ink, Radius: radius, Shape: draw.RingGlyph{}}, at)
}

func whisker(c draw.Canvas, m vg.Point) {
	stroke(lineOf(ink, 1.5))(c, m)
	for _, x := range []vg.Length{m.X - 9, m.X + 9} {
		c.StrokeLine2(lineOf(ink, 1.5), x, m.Y-3, x, m.Y+3)
	}
}

// largest are the indices of the n largest values, in their own order.
func largest(values []float64, n int) []int {
	order := make([]int, len(values))
	for k := range order {
		order[k] = k
	}
	if len(order) > n {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
		order = order[:n]
		slices.Sort(order)
	}
	return order
}

// greatest is the end of the axis of shares.
func greatest(r *proportions.Report, order []int) float64 {
	most := 0.0
	for _, k := range order {
		most = max(most, r.Interval.Upper[k], r.Proportions.Source[k], r.Proportions.Estimated[k])
		for _, p := range r.Estimators {
			most = max(most, p[k])
		}
		if r.Proportions.True != nil {
			most = max(most, r.Proportions.True[k])
		}
	}
	return math.Min(1, math.Max(1.04*most, 0.01))
}

func sharesTable(r *proportions.Report) Table {
	t := Table{Head: []string{"class", "target", "interval", "source"}}
	opinions := slices.Sorted(maps.Keys(r.Estimators))
	if r.Proportions.True != nil {
		t.Head = append(t.Head, "truth")
	}
	for _, name := range opinions {
		t.Head = append(t.Head, "by "+name)
	}
	for _, k := range r.Listed() {
		row := []string{r.Classes[k], share(r.Proportions.Estimated[k]), share(r.Interval.Lower[k]) + " to " + strings.TrimSpace(share(r.Interval.Upper[k])), share(r.Proportions.Source[k])}
		if r.Proportions.True != nil {
			row = append(row, share(r.Proportions.True[k]))
		}
		for _, name := range opinions {
			if k < len(r.Estimators[name]) {
				row = append(row, share(r.Estimators[name][k]))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// barsOf draws one bar a name, with a text at its end.
func barsOf(names []string, values []float64, ends []string, limit float64, marker plot.Ticker, label string) layout {
	return high(axisHeight+14+vg.Length(len(names))*20, func(c draw.Canvas) {
		pl := newPlot()
		pl.X.Min, pl.X.Max, pl.X.Tick.Marker, pl.X.Label.Text = 0, limit, marker, label
		pl.Y.Min, pl.Y.Max = -0.5, float64(len(names))-0.5
		pl.Y.Tick.Marker, pl.Y.Tick.Length = categories(names, true), 0
		pl.Add(drawing(func(c draw.Canvas, pl *plot.Plot) {
			for i, v := range values {
				y := float64(len(names) - 1 - i)
				if v == v {
					fillBox(c, at(&c, pl, 0, y-0.32), at(&c, pl, v, y+0.32), blue)
				} else {
					v = 0
				}
				end := at(&c, pl, v, y)
				style := pen(text.XLeft, text.YCenter, ink)
				if end.X+style.Width(ends[i])+4 > c.Max.X {
					style.XAlign, style.Color, end.X = text.XRight, white, end.X-8
				}
				c.FillText(style, vg.Point{X: end.X + 4, Y: end.Y}, ends[i])
			}
		}))
		pl.Draw(c)
	})
}

// Counts draws how many rows have which label.
func Counts(classes []string, rows []int) (*Figure, error) {
	all := 0
	for _, n := range rows {
		all += n
	}
	if all == 0 || len(classes) != len(rows) {
		return nil, errors.New("holds no labels")
	}
	f := &Figure{Kind: "labels", Title: "Rows by label", width: usualWidth, narrow: true,
		Text:  fmt.Sprintf("How many of %s rows have which label. Counts of labels are not the best estimate of the shares: mars proportions gives it.", whole(all)),
		Table: Table{Head: []string{"label", "rows", "share"}}}
	var names, ends []string
	var values []float64
	most := 0
	for k, class := range classes {
		f.Table.Rows = append(f.Table.Rows, []string{class, whole(rows[k]), share(float64(rows[k]) / float64(all))})
		if k < maxBars {
			names, values, most = append(names, class), append(values, float64(rows[k])), max(most, rows[k])
			ends = append(ends, fmt.Sprintf("%s (%s)", whole(rows[k]), share(float64(rows[k])/float64(all))))
		}
	}
	if len(names) < len(classes) {
		f.Notes = append(f.Notes, fmt.Sprintf("Drawn are the %d labels with the most rows of %d; the table has all.", len(names), len(classes)))
	}
	f.layout = barsOf(names, values, ends, 1.05*float64(most), wholeTicks{}, "rows")
	return f, nil
}
