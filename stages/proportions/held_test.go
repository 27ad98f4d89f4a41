package proportions

import (
	"context"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/mte"
)

// The classifier is asked for the posteriors of source rows that it has not seen: every
// third of each class.
func TestHeldOutRowsAreNotTrainedOn(t *testing.T) {
	s := &sample{Problem: mte.Problem{Classes: 2}}
	for i := range 24 {
		s.Source.Data = append(s.Source.Data, float32(i))
		s.Labels = append(s.Labels, int32(i/2%2))
	}
	s.Source.Rows, s.Source.Cols, s.Source.Stride = 24, 1, 1
	s.target = blas32.General{Rows: 1, Cols: 1, Stride: 1, Data: []float32{100}}
	use := map[float32]string{}
	train := func(_ context.Context, x blas32.General, labels []int32) (labelshift.Posterior, error) {
		for i := range x.Rows {
			row := x.Data[i*x.Stride]
			if labels[i] != s.Labels[int(row)] {
				t.Errorf("row %v is trained on as class %d", row, labels[i])
			}
			use[row] += "trained"
		}
		return func(x blas32.General) (blas32.General, error) {
			for i := range x.Rows {
				use[x.Data[i*x.Stride]] += "asked"
			}
			return blas32.General{Rows: x.Rows, Cols: 2, Stride: 2, Data: make([]float32, 2*x.Rows)}, nil
		}, nil
	}
	in, err := s.posteriors(t.Context(), train)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for row := range 24 {
		switch use[float32(row)] {
		case "asked":
			asked++
		case "trained":
		default:
			t.Errorf("row %d is %q", row, use[float32(row)])
		}
	}
	if asked != 8 || len(in.Labels) != 8 || in.SourcePosteriors.Rows != 8 || use[100] != "asked" {
		t.Errorf("%d of 24 rows are held out, with %d labels; the target's row is %q", asked, len(in.Labels), use[100])
	}
}
