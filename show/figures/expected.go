package figures

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Expected draws of which classes the rows of each label are expected to be: rows has a slice for each
// label, with how many for each class.
func Expected(labels, classes []string, rows [][]float64) *Figure {
	f := &Figure{Kind: "expected", Title: "Confusion that is expected",
		Table: Table{Head: append([]string{"label"}, classes...)}}
	cells, counts := make([][]float64, len(labels)), make([][]string, len(labels))
	for i, of := range rows {
		all := 0.0
		for _, n := range of {
			all += n
		}
		for _, n := range of {
			cells[i], counts[i] = append(cells[i], n/max(all, 1)), append(counts[i], whole(int(math.Round(n))))
		}
		f.Table.Rows = append(f.Table.Rows, append([]string{labels[i]}, counts[i]...))
	}
	f.Text = "A row of cells for each label: of which classes its rows are expected to be, by the sum of their posteriors. It is as right as the posteriors are."
	for _, p := range Confused(labels, classes, rows, 1) {
		f.Text += fmt.Sprintf(" For example, about %s of the rows labelled %s are expected to be of class %s.", whole(int(math.Round(p.Rows))), p.Label, p.Class)
	}
	matrix(f, labels, classes, cells, counts, "class", "label")
	return f
}

// A Pair is a label and another class of which some of its rows are expected to be.
type Pair struct {
	Label, Class string
	Rows         float64
}

// Confused are the pairs of the most rows, at least half a row each, the largest first.
func Confused(labels, classes []string, rows [][]float64, most int) (pairs []Pair) {
	for i, of := range rows {
		for k, n := range of {
			if labels[i] != classes[k] && n >= 0.5 {
				pairs = append(pairs, Pair{labels[i], classes[k], n})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b Pair) int { return cmp.Compare(b.Rows, a.Rows) })
	return pairs[:min(len(pairs), most)]
}
