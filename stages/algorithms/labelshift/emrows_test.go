package labelshift

import (
	"context"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/internal/contexttest"
	"mars.dev/mars/stages/algorithms/internal/dense"
)

// thinPosteriors are those of 60 rows over many classes, of which three count in each row.
func thinPosteriors() (x blas32.General, prior []float64) {
	const classes = 2 * thinClasses
	rng := rand.New(rand.NewPCG(5, 1))
	x = dense.New(60, classes)
	for i := range x.Rows {
		row := dense.Row(x, i)
		for k := range row {
			row[k] = leftOut / classes / 100
		}
		row[(3*i)%40], row[(5*i+1)%40], row[(7*i+2)%classes] = rng.Float32(), rng.Float32(), rng.Float32()
		sum := float32(0)
		for _, v := range row {
			sum += v
		}
		for k := range row {
			row[k] /= sum
		}
	}
	return x, dense.Uniform(classes)
}

// Of many classes only posteriors that count are added up, to the same shares but for what was
// left out; and the same rows serve for any number of weights.
func TestThinRows(t *testing.T) {
	x, prior := thinPosteriors()
	rows, err := NewEMRows(x)
	if err != nil {
		t.Fatal(err)
	}
	if rows.thin == nil || len(rows.thin.class) > 3*x.Rows {
		t.Fatalf("the rows are not thin")
	}
	full := &EMRows{x: x}
	weights := make([]float64, x.Rows)
	for i := range weights {
		weights[i] = float64(1 + i%3)
	}
	for _, w := range [][]float64{nil, weights} {
		o := EMOptions{Iterations: 50, Weights: w}
		got, err := rows.EM(t.Context(), prior, o)
		if err != nil {
			t.Fatal(err)
		}
		want, err := full.EM(t.Context(), prior, o)
		if err != nil {
			t.Fatal(err)
		}
		if d := dense.L1(got.Proportions, want.Proportions); d > 1e-5 {
			t.Errorf("thin rows lead %g away", d)
		}
	}
	if few := thinned(dense.Rows(x, 0, 1)); few == nil {
		t.Error("one row is not thin")
	}
	even, err := NewEMRows(blas32.General{Rows: 1, Cols: len(prior), Stride: len(prior), Data: slices32(prior)})
	if err != nil || even.thin != nil || even.wide.Rows != 1 {
		t.Errorf("rows of which all classes count are thin (%v)", err)
	}
}

// Thousands of classes that overlap get fewer steps, so that they take seconds, and others all.
func TestSteps(t *testing.T) {
	thin, _ := thinPosteriors()
	for _, c := range []struct{ rows, classes, want int }{{20_000, 100, 300}, {20_000, 300, 166}, {3_000, 4_096, 81}, {20_000, 4_096, 12}} {
		rows := &EMRows{x: blas32.General{Rows: c.rows, Cols: c.classes}}
		if got := rows.Steps(300); got != c.want {
			t.Errorf("%d rows of %d classes take %d steps, want %d", c.rows, c.classes, got, c.want)
		}
		rows.thin = thinned(thin)
		if got := rows.Steps(300); got != 300 {
			t.Errorf("%d rows with few classes each take %d steps", c.rows, got)
		}
	}
}

func slices32(p []float64) []float32 {
	out := make([]float32, len(p))
	for k, v := range p {
		out[k] = float32(v)
	}
	return out
}

// A row whose only classes have no share is refused, as it is where all classes are added up.
func TestThinRowsWithoutMass(t *testing.T) {
	x := dense.New(1, thinClasses)
	x.Data[3] = 1
	rows, err := NewEMRows(x)
	if err != nil {
		t.Fatal(err)
	}
	prior := make([]float64, thinClasses)
	prior[0] = 1
	if _, err := rows.EM(t.Context(), prior, EMOptions{}); err != errNoMass {
		t.Errorf("error %v, want %v", err, errNoMass)
	}
}

func TestEMContext(t *testing.T) {
	x, prior := thinPosteriors()
	contexttest.Stops(t, 5, func(ctx context.Context) error {
		rows, err := NewEMRows(x)
		if err != nil {
			return err
		}
		_, err = rows.EM(ctx, prior, EMOptions{Accelerate: true})
		return err
	})
}
