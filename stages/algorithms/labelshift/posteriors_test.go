package labelshift

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/simulate"
)

// labelShift is posteriors of both domains where p(x|y) is the same.
func labelShift(t *testing.T) (source blas32.General, labels []int32, target blas32.General, prior, truth []float64) {
	t.Helper()
	rng := rand.New(rand.NewPCG(11, 11))
	p := simulate.Blobs(rng, 3000, 3000, 4, dense.Uniform(3), []float64{0.7, 0.1, 0.2}, 1, 0)
	posterior, err := linear(t.Context(), p.Source, p.Labels)
	if err != nil {
		t.Fatal(err)
	}
	if source, err = posterior(p.Source); err != nil {
		t.Fatal(err)
	}
	if target, err = posterior(p.Target); err != nil {
		t.Fatal(err)
	}
	prior, _ = Shares(p.Labels, 3)
	truth, _ = Shares(p.Truth, 3)
	return source, p.Labels, target, prior, truth
}

// All but CC are right under label shift alone.
func TestLabelShift(t *testing.T) {
	source, labels, target, prior, truth := labelShift(t)
	check := func(name string, tolerance float64) func(*Result, error) {
		return func(e *Result, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			if d := dense.L1(e.Proportions, truth); e.Estimator != name || d > tolerance || !e.Converged {
				t.Errorf("%s: %.3f, want %.3f, converged %v", e.Estimator, e.Proportions, truth, e.Converged)
			}
		}
	}
	check("cc", 0.4)(CC(target))
	check("bbse", 0.05)(BBSE(source, labels, target, BBSEOptions{}))
	check("bbse", 0.05)(BBSE(source, labels, target, BBSEOptions{Soft: true}))
	check("rlls", 0.05)(RLLS(source, labels, target))
	check("em", 0.05)(EM(target, prior, EMOptions{}))
}

// EM does not depend on the order of rows or the numbers of classes.
func TestEMPermuted(t *testing.T) {
	_, _, target, prior, _ := labelShift(t)
	before, err := EM(target, prior, EMOptions{})
	if err != nil {
		t.Fatal(err)
	}
	turned := dense.New(target.Rows, 3)
	for i := range target.Rows {
		for k, v := range dense.Row(target, i) {
			dense.Row(turned, target.Rows-1-i)[(k+1)%3] = v
		}
	}
	after, err := EM(turned, []float64{prior[2], prior[0], prior[1]}, EMOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b := before.Proportions
	compare(t, "proportions", after.Proportions, []float64{b[2], b[0], b[1]}, 1e-9)
}

func TestBBSEAbsentClass(t *testing.T) {
	p := blas32.General{Rows: 4, Cols: 3, Stride: 3, Data: []float32{1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1}}
	e, err := BBSE(p, []int32{0, 0, 2, 2}, dense.Rows(p, 1, 4), BBSEOptions{})
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "proportions", e.Proportions, []float64{1. / 3, 0, 2. / 3}, 1e-9)
	if len(e.Warnings) != 1 || !strings.Contains(e.Warnings[0], "class 1 has no source rows") {
		t.Errorf("warnings %q", e.Warnings)
	}
}

// Posteriors that were made too sure are put back.
func TestCalibrate(t *testing.T) {
	source, labels, _, _, _ := labelShift(t)
	sure := (&Calibrator{Temperature: 0.25, Bias: []float64{1, -1, 0}}).Apply(source)
	c, err := Calibrate(t.Context(), sure, labels, BCTS)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(c.Temperature-4) > 0.3 {
		t.Errorf("temperature %v, want about 4", c.Temperature)
	}
	for _, kind := range []Calibration{Temperature, BCTS} {
		if k, err := ParseCalibration(kind.String()); k != kind || err != nil {
			t.Errorf("ParseCalibration(%q) = %v, %v", kind, k, err)
		}
	}
	// Nothing is better than certainty for posteriors that are always right.
	right := dense.New(2, 2)
	right.Data = []float32{0.9, 0.1, 0.2, 0.8}
	if c, err = Calibrate(t.Context(), right, []int32{0, 1}, Temperature); err != nil || c.Temperature < 1/maxBeta*0.999 {
		t.Errorf("temperature %v, %v", c, err)
	}
}

func TestPosteriorErrors(t *testing.T) {
	x := func(v ...float32) blas32.General {
		return blas32.General{Rows: len(v) / 2, Cols: 2, Stride: 2, Data: v}
	}
	good := x(0.5, 0.5, 0.1, 0.9)
	err := func(_ any, err error) error { return err }
	cases := []struct {
		err  error
		want string
	}{
		{err(CC(x())), "labelshift: 0 target posteriors of 2 classes"},
		{err(CC(x(0.5, -0.5))), "labelshift: target row 0, class 1 has the posterior -0.5"},
		{err(CC(x(float32(math.NaN()), 0))), "labelshift: target row 0, class 0 has the posterior NaN"},
		{err(CC(x(1, 0, 0.5, 0.1))), "labelshift: the posteriors of target row 1 sum to 0.6"},
		{err(BBSE(good, []int32{0, 2}, good, BBSEOptions{})), "labelshift: source row 1 has label 2"},
		{err(RLLS(good, []int32{0, 0}, good)), "labelshift: all source rows are of class 0"},
		{err(EM(good, []float64{0.5, 0.6}, EMOptions{})), "labelshift: the source proportions sum to 1.1"},
		{err(EM(x(1, 0), []float64{0, 1}, EMOptions{})), "labelshift: a target row has posteriors of 0"},
		{err(Calibrate(t.Context(), good, []int32{0, -1}, BCTS)), "labelshift: source row 1 has label -1"},
		{err(ParseCalibration("platt")), `labelshift: calibration: "platt" is not known: choose temperature or bcts`},
	}
	for _, c := range cases {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("error %v, want %q", c.err, c.want)
		}
	}
}

func TestSimplexLeastSquares(t *testing.T) {
	m := mat.NewDense(3, 3, []float64{0.8, 0.1, 0.2, 0.1, 0.7, 0.2, 0.1, 0.2, 0.6})
	want := []float64{0.5, 0.5, 0}
	var b mat.VecDense
	b.MulVec(m, mat.NewVecDense(3, want))
	got, err := SimplexLeastSquares(m, b.RawVector().Data, nil)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "inside", got, want, 1e-6)
	// With an answer outside the simplex the nearest point of an edge is left.
	got, err = SimplexLeastSquares(mat.NewDense(2, 2, []float64{1, 0, 0, 1}), []float64{1.5, 0.1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "outside", got, []float64{1, 0}, 1e-9)
}

// A row of weight 3 counts as three rows, and one of weight 0 as none.
func TestWeightsOfRows(t *testing.T) {
	_, _, target, prior, _ := labelShift(t)
	target = dense.Rows(target, 0, 1500)
	weights, index := make([]float64, target.Rows), []int(nil)
	for i := range weights {
		weights[i] = float64(i % 4)
		for range i % 4 {
			index = append(index, i)
		}
	}
	got, err := EM(target, prior, EMOptions{Weights: weights})
	if err != nil {
		t.Fatal(err)
	}
	want, err := EM(dense.Gather(target, index), prior, EMOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if d := dense.L1(got.Proportions, want.Proportions); d > 1e-9 {
		t.Errorf("proportions %v, want %v", got.Proportions, want.Proportions)
	}
}

// Posteriors of few and of many classes are added up to the same numbers by loops and by
// products, with weights and without.
func TestPosteriorSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	for _, classes := range []int{2, 3, 4, 5, wideClasses + 3} {
		x, ratios, weights := dense.New(40, classes), make([]float64, classes), make([]float64, 40)
		for i := range x.Data {
			x.Data[i] = rng.Float32()
		}
		x = reweighted(x, dense.Uniform(classes))
		for k := range ratios {
			ratios[k] = rng.Float64()
		}
		for i := range weights {
			weights[i] = rng.Float64()
		}
		for _, w := range [][]float64{nil, weights} {
			want := make([]float64, classes)
			for i := range x.Rows {
				total, weight := 0.0, 1.0
				for k, r := range ratios {
					total += r * float64(x.Data[i*classes+k])
				}
				if w != nil {
					weight = w[i]
				}
				for k, r := range ratios {
					want[k] += weight * r * float64(x.Data[i*classes+k]) / total
				}
			}
			got := make([]float64, classes)
			addPosteriors(got, x, w, ratios)
			compare(t, "loops", got, want, 1e-12)
			rows, err := NewEMRows(x)
			if err != nil {
				t.Fatal(err)
			}
			s := newPosteriorSums(rows, w)
			if (s.wide.Rows > 0) != (classes >= wideClasses) {
				t.Errorf("%d classes: %d rows are wide", classes, s.wide.Rows)
			}
			for _, what := range []string{"parts", "parts of rows that are not held in float64"} {
				got, err = s.mean(ratios)
				if err != nil {
					t.Fatal(err)
				}
				for k := range got {
					got[k] *= s.total
				}
				compare(t, what, got, want, 1e-12)
				rows.wide.Rows = 0
			}
		}
	}
}
