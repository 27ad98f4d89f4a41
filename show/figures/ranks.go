package figures

import (
	"errors"
	"fmt"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"mars.dev/mars/pipeline/compare"
)

// Ranks draws the mean ranks of methods, with a bar over those that do not differ by the
// critical difference (Demšar 2006).
func Ranks(c *compare.Comparison) (*Figure, error) {
	switch {
	case len(c.Ranks) != len(c.Methods) || len(c.Methods) < 3:
		return nil, errors.New("holds no mean ranks: they need at least three methods, and settings that have all of them")
	case c.Friedman == nil:
		return nil, errors.New("holds no critical difference: it needs at least two settings")
	}
	order := c.ByRank()
	cd := c.Friedman.CriticalDifference
	f := &Figure{Kind: "ranks", Title: "Mean ranks of " + c.Number, width: 520,
		Text:  fmt.Sprintf("Mean ranks of %d methods over %d settings by %s, 1 the best. Methods under one bar differ by less than the critical difference of %.2f (Nemenyi's test at %s).", len(order), len(c.Settings), c.Number, cd, number(c.Level)),
		Table: Table{Head: []string{"method", "mean rank", "wins"}}}
	for _, m := range order {
		f.Table.Rows = append(f.Table.Rows, []string{c.Methods[m], fmt.Sprintf("%.2f", c.Ranks[m]), fmt.Sprint(c.Wins[m])})
	}
	groups := alike(c.Ranks, order, cd)
	half := (len(order) + 1) / 2
	top := vg.Length(54 + 7*len(groups))
	height := top + vg.Length(half)*18 + 14
	f.layout = high(height, func(canvas draw.Canvas) {
		left, right, axis := vg.Length(150), f.width-150, height-40
		x := func(rank float64) vg.Length {
			return left + (right-left)*vg.Length((rank-1)/float64(len(order)-1))
		}
		canvas.StrokeLine2(lineOf(ink, 1), left, axis, right, axis)
		for r := range len(order) {
			canvas.StrokeLine2(lineOf(ink, 1), x(float64(r+1)), axis, x(float64(r+1)), axis+5)
			canvas.FillText(pen(text.XCenter, text.YBottom, ink), vg.Point{X: x(float64(r + 1)), Y: axis + 7}, fmt.Sprint(r+1))
		}
		end := min(x(1+cd), f.width-4)
		canvas.StrokeLine2(lineOf(vermilion, 2), left, axis+26, end, axis+26)
		for _, at := range []vg.Length{left, end} {
			canvas.StrokeLine2(lineOf(vermilion, 2), at, axis+23, at, axis+29)
		}
		canvas.FillText(pen(text.XRight, text.YCenter, ink), vg.Point{X: left - 6, Y: axis + 26}, fmt.Sprintf("critical difference %.2f", cd))
		for g, group := range groups {
			y := axis - 7 - vg.Length(7*g)
			canvas.StrokeLine2(lineOf(blue, 4), x(c.Ranks[order[group[0]]])-3, y, x(c.Ranks[order[group[1]]])+3, y)
		}
		for i, m := range order {
			name := fmt.Sprintf("%s  %.2f", shorten(c.Methods[m]), c.Ranks[m])
			row, side, style := i, left-8, pen(text.XRight, text.YCenter, ink)
			if i >= half {
				row, side, style = len(order)-1-i, right+8, pen(text.XLeft, text.YCenter, ink)
				name = fmt.Sprintf("%.2f  %s", c.Ranks[m], shorten(c.Methods[m]))
			}
			y := height - top - vg.Length(row)*18 - 4
			canvas.StrokeLines(lineOf(grey, 1), []vg.Point{{X: x(c.Ranks[m]), Y: axis}, {X: x(c.Ranks[m]), Y: y}, {X: side, Y: y}})
			if i >= half {
				canvas.FillText(style, vg.Point{X: side + 3, Y: y}, name)
			} else {
				canvas.FillText(style, vg.Point{X: side - 3, Y: y}, name)
			}
		}
	})
	return f, nil
}

// alike are the runs [first, last] of methods in order whose ranks differ by less than the
// critical difference, without those that others hold.
func alike(ranks []float64, order []int, difference float64) (groups [][2]int) {
	reached := 0
	for i := range order {
		j := i
		for j+1 < len(order) && ranks[order[j+1]]-ranks[order[i]] < difference {
			j++
		}
		if j > i && j > reached {
			groups = append(groups, [2]int{i, j})
			reached = j
		}
	}
	return groups
}
