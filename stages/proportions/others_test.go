package proportions

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/internal/contexttest"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/mte"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/stream"
)

// A sample is even, whatever the blocks, and not larger than asked for.
func TestEvenly(t *testing.T) {
	for rows, want := range map[int][]float32{
		3: {0, 1, 2}, 4: {0, 1, 2, 3}, 5: {0, 2, 4}, 9: {0, 4, 8}, 16: {0, 4, 8, 12},
	} {
		for _, size := range []int{1, 2, 5, 16} {
			for _, columns := range []int{1, 3} {
				x, err := evenly(blocks(rows, columns, size), 4)
				var wide []float32
				for _, v := range want {
					wide = append(wide, slices.Repeat([]float32{v}, columns)...)
				}
				if err != nil || !slices.Equal(x.Data, wide) || x.Rows != len(want) || x.Cols != columns {
					t.Errorf("%d rows of %d in blocks of %d: %v, %v", rows, columns, size, x, err)
				}
			}
		}
	}
}

// blocks are rows 0, 1, …, each of which has its number in all columns.
func blocks(rows, columns, size int) mte.Blocks {
	return func(yield func(blas32.General, error) bool) {
		for lo := 0; lo < rows; lo += size {
			var data []float32
			for i := lo; i < min(lo+size, rows); i++ {
				data = append(data, slices.Repeat([]float32{float32(i)}, columns)...)
			}
			if !yield(blas32.General{Rows: len(data) / columns, Cols: columns, Stride: columns, Data: data}, nil) {
				return
			}
		}
	}
}

// problem has rows of two classes, each in all columns.
func problem(columns int) mte.Problem {
	p := mte.Problem{Classes: 2, Names: []string{"a", "b"}, Target: blocks(8, columns, 3)}
	for i := range 12 {
		p.Labels = append(p.Labels, int32(i/6))
		stream.AppendRow(&p.Source, slices.Repeat([]float32{float32(i)}, columns))
	}
	return p
}

// A target that cannot be read has no sample, and one whose context ends neither.
func TestSampleFails(t *testing.T) {
	p := problem(2)
	p.Target = func(yield func(blas32.General, error) bool) { yield(blas32.General{}, errCut) }
	if _, err := newSample(t.Context(), p); !errors.Is(err, errCut) {
		t.Errorf("a target that is cut: %v", err)
	}
	contexttest.Stops(t, 2, func(ctx context.Context) error {
		_, err := newSample(ctx, problem(2))
		return err
	})
}

// Estimators of posteriors fail where their classifier does, and the others are asked all the same.
func TestClassifierFails(t *testing.T) {
	s, err := newSample(t.Context(), problem(1))
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	fails := func(at int) labelshift.Classifier {
		return func(context.Context, blas32.General, []int32) (labelshift.Posterior, error) {
			asked = 0
			next := func() error {
				if asked++; asked > at {
					return errCut
				}
				return nil
			}
			return func(x blas32.General) (blas32.General, error) {
				p := blas32.General{Rows: x.Rows, Cols: 2, Stride: 2}
				for i := range x.Rows {
					second := float32(1 / (1 + math.Exp(-float64(x.Data[i*x.Stride]))))
					p.Data = append(p.Data, 1-second, second)
				}
				return p, next()
			}, next()
		}
	}
	for at := range 3 {
		if _, err := s.posteriors(t.Context(), fails(at)); !errors.Is(err, errCut) {
			t.Errorf("the classifier fails at call %d, and the error is %v", at+1, err)
		}
	}
	for at, want := range map[int][]string{0: {"marsc", "marsg"}, 3: {"bbse", "bbse-soft", "em", "marsc", "marsg", "rlls"}} {
		r, d := &Report{Estimators: map[string][]float64{}}, &Diagnostics{Mixture: map[string]*diagnostics.Clustering{}, Matching: map[string]*diagnostics.Matching{}}
		if err := s.askOthers(t.Context(), env, fails(at), r, d); err != nil {
			t.Fatal(err)
		}
		if got := slices.Sorted(maps.Keys(r.Estimators)); !slices.Equal(got, want) || len(d.Mixture) != 2 || len(d.Matching) != 2 {
			t.Errorf("the classifier fails after %d calls: there are %q, want %q", at, got, want)
		}
	}
	few := &sample{Problem: mte.Problem{Classes: 2, Source: blas32.General{Rows: 2, Cols: 1, Stride: 1, Data: []float32{0, 1}}, Labels: []int32{0, 1}}}
	if _, err := few.posteriors(t.Context(), fails(3)); err == nil || err.Error() != "no class has 3 source rows, so none can be kept from a classifier: give more labelled rows" {
		t.Errorf("two rows: %v", err)
	}
}
