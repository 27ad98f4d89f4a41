package figures

import (
	"errors"
	"fmt"
)

// Plan draws a transport plan: how much of the target's mass in each component goes to
// each class.
func Plan(classes []string, plan [][]float64) (*Figure, error) {
	if len(classes) == 0 || len(plan) != len(classes) || len(plan[0]) == 0 {
		return nil, errors.New("holds no transport plan: save one with mars match --save")
	}
	f := &Figure{Kind: "plan", Title: "Transport plan",
		Text: fmt.Sprintf("The mass that goes from each of %d components of the target to each of %d classes. Cells are shaded by their part of the component's mass.", len(plan[0]), len(classes))}
	columns := make([]string, len(plan[0]))
	masses := make([]float64, len(plan[0]))
	f.Table.Head = []string{"class"}
	for j := range columns {
		columns[j] = fmt.Sprint(j + 1)
		f.Table.Head = append(f.Table.Head, "component "+columns[j])
		for i := range plan {
			if len(plan[i]) != len(columns) {
				return nil, errors.New("holds a transport plan with rows of several lengths: save it again with mars match --save")
			}
			masses[j] += plan[i][j]
		}
	}
	if len(columns) > maxCells || len(classes) > maxCells {
		return nil, fmt.Errorf("holds a plan of %d classes and %d components, and %d can be drawn", len(classes), len(columns), maxCells)
	}
	cells, labels := make([][]float64, len(plan)), make([][]string, len(plan))
	for i, row := range plan {
		texts := []string{classes[i]}
		for j, v := range row {
			cells[i] = append(cells[i], v/max(masses[j], 1e-300))
			text := "0"
			if v > 0 {
				text = fmt.Sprintf("%.2f", v)
			}
			labels[i], texts = append(labels[i], text), append(texts, fmt.Sprintf("%.4f", v))
		}
		f.Table.Rows = append(f.Table.Rows, texts)
	}
	matrix(f, classes, columns, cells, labels, "component of the target", "class")
	return f, nil
}
