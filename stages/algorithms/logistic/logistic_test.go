package logistic

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/internal/contexttest"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
	"mars.dev/mars/stages/algorithms/internal/simulate"
)

func mustFit(t *testing.T, p simulate.Data, classes int, o Options) *Model {
	t.Helper()
	m, err := Fit(t.Context(), p.Source, p.Labels, classes, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Compares with scikit-learn, testdata/oracle/classifiers/generate.py. What is the
// same for all classes has no effect on posteriors.
func TestFitAgreesWithScikitLearn(t *testing.T) {
	const tolerance = 2e-6 // models are float32
	text, err := os.ReadFile("../../../testdata/oracle/classifiers/logistic.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Data    simulate.Oracle
		Inverse float64
		Weights [][]float64
		Bias    []float64
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		m := mustFit(t, c.Data.Data(), c.Data.C, Options{C: c.Inverse, Iterations: 1000, Tolerance: 1e-9})
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

var problem = simulate.Oracle{C: 3, D: 8, NS: 400, Spread: 0.7, Seed: 5}

// The default tolerance leaves posteriors that are right to three digits.
func TestDefaultToleranceIsEnough(t *testing.T) {
	p := problem.Data()
	rough, exact := mustFit(t, p, 3, Options{}), mustFit(t, p, 3, Options{Tolerance: 1e-9, Iterations: 1000})
	a, b := rough.Logits(p.Source), exact.Logits(p.Source)
	kernel.Softmax(a.Data, a.Data, a.Rows, a.Cols)
	kernel.Softmax(b.Data, b.Data, b.Rows, b.Cols)
	for i, v := range a.Data {
		if !(math.Abs(float64(v-b.Data[i])) < 2e-3) {
			t.Fatalf("posterior %d is %g, want %g", i, v, b.Data[i])
		}
	}
}

// A class without rows changes nothing for the others, and no row gets it.
func TestClassWithoutRows(t *testing.T) {
	p := problem.Data()
	want := mustFit(t, p, 3, Options{}).Logits(p.Source)
	for i, y := range p.Labels {
		if y > 0 {
			p.Labels[i] = y + 1
		}
	}
	got := mustFit(t, p, 5, Options{}).Logits(p.Source)
	for i := range got.Rows {
		row := dense.Row(got, i)
		if !slices.Equal([]float32{row[0], row[2], row[3]}, dense.Row(want, i)) {
			t.Fatalf("row %d: %v, want %v", i, row, dense.Row(want, i))
		}
		if row[1] != absentBias || row[4] != absentBias {
			t.Fatalf("row %d: logits %v of classes without rows", i, row)
		}
	}
}

func TestSameBytesWithAnyThreads(t *testing.T) {
	defer kernel.SetJobs(0)
	p := simulate.Oracle{C: 4, D: 50, NS: 1500, Spread: 0.3, Seed: 6}.Data()
	var want *Model
	for jobs := 1; jobs <= 3; jobs++ {
		kernel.SetJobs(jobs)
		m := mustFit(t, p, 4, Options{})
		if want == nil {
			want = m
		}
		if !slices.Equal(m.Weights.Data, want.Weights.Data) || !slices.Equal(m.Bias, want.Bias) {
			t.Errorf("%d threads: the model differs", jobs)
		}
	}
}

func TestFitRefuses(t *testing.T) {
	bad := dense.New(2, 2)
	bad.Data[3] = float32(math.Inf(1))
	for want, x := range map[string]blas32.General{
		"source row 1, column 1 is +Inf": bad,
		"no rows or no columns":          dense.New(0, 2),
	} {
		if _, err := Fit(t.Context(), x, make([]int32, x.Rows), 2, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}

func TestMisusePanics(t *testing.T) {
	p := problem.Data()
	m := mustFit(t, p, 3, Options{})
	for name, f := range map[string]func(){
		"a label too few": func() { _, _ = Fit(t.Context(), p.Source, p.Labels[1:], 3, Options{}) },
		"another width":   func() { m.Logits(dense.New(1, 3)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestContextEndsFit(t *testing.T) {
	p := problem.Data()
	contexttest.Stops(t, 5, func(ctx context.Context) error {
		_, err := Fit(ctx, p.Source, p.Labels, 3, Options{})
		return err
	})
}

func BenchmarkFit(b *testing.B) {
	p := simulate.Oracle{C: 5, D: 50, NS: 4000, Spread: 0.3, Seed: 7}.Data()
	for b.Loop() {
		if _, err := Fit(b.Context(), p.Source, p.Labels, 5, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
