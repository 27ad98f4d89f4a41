package label

import (
	"cmp"
	"slices"

	"mars.dev/mars/arrowio"
)

// mostExpected is how many classes there may be so that what rows are expected to be is counted.
const mostExpected = 1000

// expect counts of which classes a row with a label is expected to be.
func (t *Tally) expect(label string, posteriors arrowio.Vectors, row int) {
	if !t.looked || posteriors.Width < 2 || posteriors.Width > mostExpected {
		return
	}
	class := t.classes[label]
	if class.expected == nil {
		class.expected = make([]float64, posteriors.Width)
	}
	for k, p := range posteriors.Row(row) {
		class.expected[k] += float64(p)
	}
}

// MeanConfidence is the share of right labels by their confidence; 0 without labels.
func (t *Tally) MeanConfidence() float64 {
	sum := 0.0
	for _, name := range t.byRows() {
		sum += t.classes[name].confidence
	}
	return sum / float64(max(t.rows, 1))
}

// Expected says how many rows of each label are expected to be of each class, by their posteriors: a
// slice for each label. Labels and classes of the most rows come first. It is nil where that is not counted.
func (t *Tally) Expected() (labels, classes []string, rows [][]float64) {
	labels = slices.DeleteFunc(t.byRows(), func(name string) bool { return t.classes[name].expected == nil })
	if len(labels) == 0 {
		return nil, nil, nil
	}
	order := make([]int, len(t.Labels.classes))
	for k := range order {
		order[k] = k
	}
	count := func(k int) int {
		if class := t.classes[t.Labels.classes[k]]; class != nil {
			return class.rows
		}
		return 0
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(count(b), count(a)), cmp.Compare(t.Labels.classes[a], t.Labels.classes[b]))
	})
	for _, k := range order {
		classes = append(classes, t.Labels.classes[k])
	}
	for _, name := range labels {
		of := make([]float64, len(order))
		for j, k := range order {
			of[j] = t.classes[name].expected[k]
		}
		rows = append(rows, of)
	}
	return labels, classes, rows
}
