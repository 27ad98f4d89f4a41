package ppi

import (
	"math"
	"slices"
)

// A Field says in which rows a model is expected to err alike: in those that are near each other, in proportion to
// its doubt. It is made of the labelled rows, and is then shown all rows of the target.
type Field struct {
	rows   [][]float64 // m×d
	doubts []float64
	scale  float64   // squared distance within which rows are near
	near   []float64 // sums over all rows, of the labelled rows that are learnt from
	doubt  float64   // sum over all rows
	total  int
}

// mostLearnt is from how many labels a model learns where it errs, the first: what takes time grows with their cube, and
// so many leave little to learn.
const mostLearnt = 1000

// NewField is that of labelled rows, m×d, and the model's doubts of them. Rows are near each other within the median
// distance of two of those that are learnt from.
func NewField(rows [][]float64, doubts []float64) *Field {
	f := &Field{rows: rows, doubts: doubts, scale: 1, near: make([]float64, min(len(rows), mostLearnt))}
	var pairs []float64
	for i := range f.near {
		for _, other := range rows[:i] {
			pairs = append(pairs, apart(rows[i], other))
		}
	}
	slices.Sort(pairs)
	if n := len(pairs); n > 0 && pairs[n/2] > 0 {
		f.scale = pairs[n/2]
	}
	return f
}

// Show shows it a row of the target.
func (f *Field) Show(row []float64, doubt float64) {
	for j := range f.near {
		f.near[j] += f.likeness(row, j) * doubt
	}
	f.doubt += doubt
	f.total++
}

// Alike is how far the model's errors of two labelled rows are expected to go together.
func (f *Field) Alike(i, j int) float64 { return f.likeness(f.rows[i], j) * f.doubts[i] }

// Near is the mean over all rows of how far the errors go together with that of a labelled one.
func (f *Field) Near(j int) float64 { return f.near[j] / float64(f.total) }

func (f *Field) meanDoubt() float64 { return f.doubt / float64(f.total) }

func (f *Field) likeness(row []float64, j int) float64 {
	return math.Exp(-apart(row, f.rows[j])/(2*f.scale)) * f.doubts[j]
}

// apart is the squared distance of two rows.
func apart(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += (v - b[i]) * (v - b[i])
	}
	return sum
}

// ErrorDoubt is the doubt of a posterior, as of a model that is never quite right, where there are so many classes, of
// which the last are not in it.
func ErrorDoubt(p []float64, classes int) float64 {
	rest := soften(0, classes)
	sum := float64(classes-len(p)) * rest * rest
	for _, q := range p {
		sum += soften(q, classes) * soften(q, classes)
	}
	return math.Sqrt(max(1-sum, 0))
}
