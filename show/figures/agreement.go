package figures

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"

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

// matrix draws cells whose shade is their value, 0 to 1. Where there is room they have their labels.
func matrix(f *Figure, rows, columns []string, cells [][]float64, labels [][]string, x, y string) {
	m := table{rows, columns, cells, labels, x, y}
	left, n := widest(rows)+40, vg.Length(len(columns))
	side := vg.Length(cellSide)
	if len(columns) > maxInk {
		side = max(leastCell, 540/n)
	}
	f.width, f.narrow = left+side*n, left+leastCell*n <= Narrow
	f.layout = func(width vg.Length) (height vg.Length, drawing func(draw.Canvas)) {
		side := (width - left) / n
		below, slanted := vg.Length(fontSize), widest(columns) > side-4
		if slanted {
			below = widest(columns)
		}
		inked := len(columns) <= maxInk && widest(slices.Concat(labels...)) <= side-2
		return below + 50 + min(side, cellSide)*vg.Length(len(rows)), func(c draw.Canvas) { m.draw(c, slanted, inked) }
	}
}

const (
	cellSide  = 36
	leastCell = 8
	darkest   = 0.8 // a shade on which black can be read
)

// widest is how wide the widest of some names is.
func widest(names []string) (width vg.Length) {
	for _, name := range names {
		width = max(width, pen(text.XLeft, text.YTop, ink).Width(shorten(name)))
	}
	return width
}

// A table is the cells of a matrix with the names of its rows, columns and axes.
type table struct {
	rows, columns []string
	cells         [][]float64
	labels        [][]string
	x, y          string
}

func (m *table) draw(c draw.Canvas, slanted, inked bool) {
	p := newPlot()
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -0.5, float64(len(m.columns))-0.5, -0.5, float64(len(m.rows))-0.5
	p.X.Tick.Marker, p.Y.Tick.Marker = categories(m.columns, false), categories(m.rows, true)
	p.X.Tick.Length, p.Y.Tick.Length = 0, 0
	p.X.Label.Text, p.Y.Label.Text = m.x, m.y
	if slanted {
		p.X.Tick.Label.Rotation, p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = math.Pi/2, text.XRight, text.YCenter
	}
	p.Add(drawing(func(c draw.Canvas, p *plot.Plot) {
		for i, row := range m.cells {
			for j, v := range row {
				m.cell(c, p, i, j, v, inked)
			}
		}
	}))
	p.Draw(c)
}

func (m *table) cell(c draw.Canvas, p *plot.Plot, i, j int, v float64, inked bool) {
	yAt := float64(len(m.rows) - 1 - i)
	a, b := at(&c, p, float64(j)-0.5, yAt-0.5), at(&c, p, float64(j)+0.5, yAt+0.5)
	fillBox(c, a, b, shade(blue, darkest*v))
	strokeBox(c, a, b, lineOf(shade(grey, 0.5), 0.5))
	if !inked || m.labels[i][j] == "0" {
		return
	}
	c.FillText(pen(text.XCenter, text.YCenter, ink), vg.Point{X: (a.X + b.X) / 2, Y: (a.Y + b.Y) / 2}, m.labels[i][j])
}

// Recall draws the share of each class' rows that have its label.
func Recall(m *eval.Metrics) (*Figure, error) {
	n := len(m.Classes)
	if n == 0 || len(m.Recall) != n || len(m.Confusion) != n {
		return nil, errors.New("holds an evaluation without the recall of its classes: run mars eval --json again")
	}
	f := &Figure{Kind: "recall", Title: "Recall by class", width: usualWidth, narrow: true,
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
	f.layout = barsOf(names, values, ends, 1, percentTicks{}, "recall")
	return f, nil
}
