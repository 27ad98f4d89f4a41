package figures

import (
	"errors"
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"mars.dev/mars/stages/eval"
)

var (
	white = color.NRGBA{0xff, 0xff, 0xfe, 0xff} // on blue, whatever the page
	paper = color.NRGBA{0xff, 0xff, 0xff, 0xff} // becomes the page's
)

const (
	maxCells = 60 // classes of a matrix that is drawn
	maxInk   = 15 // classes of a matrix whose cells have numbers
)

// Confusion draws how many rows of each true class got each label.
func Confusion(m *eval.Metrics) (*Figure, error) {
	n := len(m.Classes)
	if n == 0 || len(m.Confusion) != n {
		return nil, errors.New("holds an evaluation without a confusion matrix of its classes: run mars eval --json again")
	}
	f := &Figure{Kind: "confusion", Title: "True and predicted classes",
		Text:  fmt.Sprintf("Confusion matrix of %s rows: a row of cells for each true class, and a column for each label. %s of the rows are right.", whole(m.N), share(m.Accuracy)),
		Table: Table{Head: append([]string{"true class"}, m.Classes...)}}
	largestRow := make([]float64, n)
	for k, row := range m.Confusion {
		if len(row) != n {
			return nil, errors.New("holds a confusion matrix that is not square: run mars eval --json again")
		}
		cells := []string{m.Classes[k]}
		for _, c := range row {
			cells = append(cells, whole(c))
			largestRow[k] += float64(c)
		}
		f.Table.Rows = append(f.Table.Rows, cells)
	}
	order := largest(largestRow, maxCells)
	if len(order) < n {
		f.Notes = append(f.Notes, fmt.Sprintf("Drawn are the %d classes with the most rows of %d; the table has all.", len(order), n))
	}
	cells, labels := make([][]float64, len(order)), make([][]string, len(order))
	names := make([]string, len(order))
	for i, k := range order {
		names[i] = m.Classes[k]
		for _, j := range order {
			cells[i] = append(cells[i], float64(m.Confusion[k][j])/max(largestRow[k], 1))
			labels[i] = append(labels[i], whole(m.Confusion[k][j]))
		}
	}
	matrix(f, names, names, cells, labels, "predicted class", "true class")
	return f, nil
}

// matrix draws cells whose shade is their value, 0 to 1.
func matrix(f *Figure, rows, columns []string, cells [][]float64, labels [][]string, x, y string) {
	side := vg.Length(36)
	if len(columns) > maxInk {
		side = max(8, 540/vg.Length(len(columns)))
	}
	margin := vg.Length(0)
	for _, name := range rows {
		margin = max(margin, pen(text.XLeft, text.YTop, ink).Width(shorten(name)))
	}
	below := vg.Length(0)
	for _, name := range columns {
		below = max(below, pen(text.XLeft, text.YTop, ink).Width(shorten(name)))
	}
	slanted := below > side-4
	if !slanted {
		below = fontSize
	}
	f.width, f.height = margin+40+side*vg.Length(len(columns)), below+50+side*vg.Length(len(rows))
	f.draw = func(c draw.Canvas) {
		p := newPlot()
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -0.5, float64(len(columns))-0.5, -0.5, float64(len(rows))-0.5
		p.X.Tick.Marker, p.Y.Tick.Marker = categories(columns, false), categories(rows, true)
		p.X.Tick.Length, p.Y.Tick.Length = 0, 0
		p.X.Label.Text, p.Y.Label.Text = x, y
		if slanted {
			p.X.Tick.Label.Rotation, p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = math.Pi/2, text.XRight, text.YCenter
		}
		p.Add(drawing(func(c draw.Canvas, p *plot.Plot) {
			for i, row := range cells {
				for j, v := range row {
					yAt := float64(len(rows) - 1 - i)
					a, b := at(&c, p, float64(j)-0.5, yAt-0.5), at(&c, p, float64(j)+0.5, yAt+0.5)
					fillBox(c, a, b, shade(blue, v))
					strokeBox(c, a, b, lineOf(shade(grey, 0.5), 0.5))
					if len(columns) > maxInk || labels[i][j] == "0" {
						continue
					}
					style := pen(text.XCenter, text.YCenter, ink)
					if v > 0.55 {
						style.Color = white
					}
					c.FillText(style, vg.Point{X: (a.X + b.X) / 2, Y: (a.Y + b.Y) / 2}, labels[i][j])
				}
			}
		}))
		p.Draw(c)
	}
}

// Recall draws the share of each class' rows that have its label.
func Recall(m *eval.Metrics) (*Figure, error) {
	n := len(m.Classes)
	if n == 0 || len(m.Recall) != n || len(m.Confusion) != n {
		return nil, errors.New("holds an evaluation without the recall of its classes: run mars eval --json again")
	}
	f := &Figure{Kind: "recall", Title: "Recall by class", width: usualWidth,
		Text:  fmt.Sprintf("The share of each class' rows that have its label. Their mean, the balanced accuracy, is %s.", share(m.BalancedAccuracy)),
		Table: Table{Head: []string{"class", "rows", "recall"}}}
	rows := make([]float64, n)
	for k, row := range m.Confusion {
		for _, c := range row {
			rows[k] += float64(c)
		}
		cells := []string{m.Classes[k], whole(int(rows[k])), "no rows"}
		if m.Recall[k] != nil {
			cells[2] = share(*m.Recall[k])
		}
		f.Table.Rows = append(f.Table.Rows, cells)
	}
	var names, ends []string
	var values []float64
	order := largest(rows, maxBars)
	if len(order) < n {
		f.Notes = append(f.Notes, fmt.Sprintf("Drawn are the %d classes with the most rows of %d; the table has all.", len(order), n))
	}
	for _, k := range order {
		names = append(names, m.Classes[k])
		if m.Recall[k] == nil {
			values, ends = append(values, math.NaN()), append(ends, "no rows")
			continue
		}
		values, ends = append(values, *m.Recall[k]), append(ends, fmt.Sprintf("%s of %s", share(*m.Recall[k]), whole(int(rows[k]))))
	}
	f.height, f.draw = barsOf(names, values, ends, 1, percentTicks{}, "recall")
	return f, nil
}
