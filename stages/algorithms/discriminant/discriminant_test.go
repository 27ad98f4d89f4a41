package discriminant

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/internal/contexttest"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/simulate"
	"mars.dev/mars/stages/algorithms/logistic"
)

func mustFit(t *testing.T, x blas32.General, labels []int32, classes int, o Options) *logistic.Model {
	t.Helper()
	m, err := Fit(t.Context(), x, labels, classes, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Compares with scikit-learn, testdata/oracle/classifiers/generate.py. What is the
// same for all classes has no effect on posteriors.
func TestFitAgreesWithScikitLearn(t *testing.T) {
	const tolerance = 1e-5 // models are float32
	text, err := os.ReadFile("../../../testdata/oracle/classifiers/discriminant.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Data        simulate.Oracle
		Temperature float64
		Weights     [][]float64
		Bias        []float64
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		p := c.Data.Data()
		m := mustFit(t, p.Source, p.Labels, c.Data.C, Options{Temperature: c.Temperature})
		for j, want := range append(c.Weights, c.Bias) {
			got := m.Bias
			if j < c.Data.D {
				got = dense.Row(m.Weights, j)
			}
			mean := 0.0
			for _, v := range got {
				mean += float64(v) / float64(len(got))
			}
			for k, w := range want {
				if d := math.Abs(float64(got[k]) - mean - w); !(d <= tolerance*max(1, math.Abs(w))) {
					t.Errorf("%v: column %d, class %d: %g, want %g", c.Data, j, k, float64(got[k])-mean, w)
				}
			}
		}
	}
}

var problem = simulate.Oracle{C: 3, D: 8, NS: 401, Spread: 0.7, Seed: 5}

// Alike, classes lack the logarithms of their shares.
func TestAlike(t *testing.T) {
	p := problem.Data()
	shared, alike := mustFit(t, p.Source, p.Labels, 3, Options{}), mustFit(t, p.Source, p.Labels, 3, Options{Alike: true})
	for k, rows := range []float64{134, 134, 133} {
		if got, want := float64(shared.Bias[k]-alike.Bias[k]), math.Log(rows/401); math.Abs(got-want) > 1e-5 {
			t.Errorf("class %d: the bias is greater by %g, want %g", k, got, want)
		}
	}
}

// A class without rows changes nothing for the others, and no row gets it.
func TestClassWithoutRows(t *testing.T) {
	p := problem.Data()
	want := mustFit(t, p.Source, p.Labels, 3, Options{}).Logits(p.Source)
	for i, y := range p.Labels {
		p.Labels[i] = 2 * y
	}
	got := mustFit(t, p.Source, p.Labels, 6, Options{}).Logits(p.Source)
	for i := range got.Rows {
		for k, v := range dense.Row(got, i) {
			switch {
			case k%2 == 0 && v != dense.Row(want, i)[k/2]:
				t.Fatalf("row %d, class %d: %g, want %g", i, k, v, dense.Row(want, i)[k/2])
			case k%2 == 1 && v != absentBias:
				t.Fatalf("row %d gives class %d, without rows, %g", i, k, v)
			}
		}
	}
}

// Of one row a class, the covariance is that of all rows, and each row gets its class.
func TestOneRowOfEach(t *testing.T) {
	p := problem.Data()
	x, labels := dense.Rows(p.Source, 0, 90), make([]int32, 90)
	for i := range labels {
		labels[i] = int32(i)
	}
	for i, k := range dense.ArgmaxRows(mustFit(t, x, labels, 90, Options{}).Logits(x)) {
		if k != labels[i] {
			t.Errorf("row %d gets the class of row %d", i, k)
		}
	}
}

func TestMistakes(t *testing.T) {
	p := problem.Data()
	p.Source.Data[10] = float32(math.NaN())
	if _, err := Fit(t.Context(), p.Source, p.Labels, 3, Options{}); err == nil || !strings.Contains(err.Error(), "source row 1, column 2") {
		t.Errorf("NaN: %v", err)
	}
	if _, err := Fit(t.Context(), dense.New(0, 3), nil, 3, Options{}); err == nil || !strings.Contains(err.Error(), "no rows") {
		t.Errorf("no rows: %v", err)
	}
}

func TestContextEnds(t *testing.T) {
	p := simulate.Oracle{C: 3, D: 2, NS: 5 * blockRows, Spread: 1}.Data()
	contexttest.Stops(t, 5, func(ctx context.Context) error {
		_, err := Fit(ctx, p.Source, p.Labels, 3, Options{})
		return err
	})
}
