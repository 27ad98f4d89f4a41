package proportions

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/internal/contexttest"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/mte"
	"mars.dev/mars/stages/algorithms/wasserstein"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/stream"
)

// stretched is a sample whose target has the rows of the source thrice as far from 0, and an estimate
// that knows their classes.
func stretched(columns int) (*sample, *labelshift.Result) {
	rng := rand.New(rand.NewPCG(1, 2))
	s := &sample{Problem: mte.Problem{Classes: 2, Names: []string{"a", "b"}}}
	e := &labelshift.Result{Proportions: []float64{.5, .5}}
	for i := range 12 {
		s.Labels = append(s.Labels, int32(i/6))
		row, far := make([]float32, columns), make([]float32, columns)
		for j := range row {
			row[j] = float32(rng.NormFloat64())
			far[j] = 3 * row[j]
		}
		stream.AppendRow(&s.Source, row)
		stream.AppendRow(&s.target, far)
		stream.AppendRow(&e.Responsibilities, []float32{float32(1 - i/6), float32(i / 6)})
	}
	s.Target = mte.InMemory(s.target)
	return s, e
}

// Of up to 300 columns the residuals of the classes are moved too, of more their means alone.
func TestTranslationOfManyColumns(t *testing.T) {
	for _, columns := range []int{maxColumns, maxColumns + 1} {
		if columns == maxColumns && testing.Short() {
			continue // takes the square roots of large matrices
		}
		s, e := stretched(columns)
		moved := blas32.General{Rows: 12, Cols: columns, Stride: columns, Data: make([]float32, 12*columns)}
		for class := range 2 {
			for j := range columns {
				mean := float32(0)
				for i := range 6 {
					mean += s.Source.Data[(6*class+i)*columns+j] / 6
				}
				for i := range 6 {
					at := (6*class+i)*columns + j
					moved.Data[at] = s.Source.Data[at] + 2*mean
				}
			}
		}
		reference, err := wasserstein.NewReference(t.Context(), s.target, wasserstein.Options{Seed: env.Seed})
		if err != nil {
			t.Fatal(err)
		}
		means, err := reference.To(t.Context(), moved, s.Labels, e.Proportions)
		if err != nil {
			t.Fatal(err)
		}
		got, err := translation(t.Context(), env, s, e)
		if err != nil {
			t.Fatal(err)
		}
		want := diagnostics.NewTranslation(means, means).After
		if same := math.Abs(got.After-want) < 1e-3*want; same != (columns > maxColumns) {
			t.Errorf("%d columns: a distance of %v after translation, and of %v if only means are moved", columns, got.After, want)
		}
	}
}

// The end of the context is the error of all diagnostics.
func TestDiagnosticsEnd(t *testing.T) {
	s, e := stretched(2)
	contexttest.Stops(t, 20, func(ctx context.Context) error {
		_, err := translation(ctx, env, s, e)
		return err
	})
	e, err := labelshift.Estimate(t.Context(), "marsc", labelshift.Inputs{Problem: s.Problem})
	if err != nil {
		t.Fatal(err)
	}
	contexttest.Stops(t, 5, func(ctx context.Context) error {
		d := &Diagnostics{Mixture: map[string]*diagnostics.Clustering{}, Matching: map[string]*diagnostics.Matching{}}
		return d.add(ctx, s, e)
	})
}
