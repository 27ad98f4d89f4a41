package hedge

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"
)

// Still is what the source alone says for rows that stay where they are. A movement cannot
// be seen where classes overlap, since new proportions look the same, and rows of few values
// move to places where no row can be. On tables that were split by one of their own columns the
// assumptions that move rows brought most of the source's labels back, and were wrong.
type Still struct {
	// Separation is how well the classifiers tell the source's classes apart in rows that
	// were held out: their balanced accuracy, from 0 at chance to 1.
	Separation float64 `json:"separation"`
	// FewValued is the share of columns, 0 to 1, that have few values in the source.
	FewValued float64 `json:"few_valued"`
}

const (
	// Classes overlap below that separation. It was chosen, as all of weights.go, on 324
	// tasks of 96 families, with families left out (docs/measured/default.md).
	leastSeparation = 0.6
	separationWidth = 0.03
	// fewValues is the most values of a column that has few.
	fewValues = 12
)

// still looks at the source.
func (f *fit) still() Still {
	chance := 1 / float64(len(f.present()))
	return Still{max(0, (f.tuned.Accuracy-chance)/(1-chance)), fewValued(f.source, f.distinct)}
}

// Overlap is how far the classes overlap, from 0 to 1.
func (s Still) Overlap() float64 {
	return 1 / (1 + math.Exp((s.Separation-leastSeparation)/separationWidth))
}

// fewValued is the share of the columns that have at most fewValues values in the first
// rows.
func fewValued(x blas32.General, rows int) float64 {
	few := 0
	for j := range x.Cols {
		values := make(map[float32]struct{}, fewValues+1)
		for i := 0; i < rows && len(values) <= fewValues; i++ {
			values[x.Data[i*x.Stride+j]] = struct{}{}
		}
		if len(values) <= fewValues {
			few++
		}
	}
	return float64(few) / float64(max(x.Cols, 1))
}
