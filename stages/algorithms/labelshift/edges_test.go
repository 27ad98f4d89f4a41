package labelshift

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/mte"
)

// Many rows are added up in parts, and in blocks of a part, to what they are one by one: each with its own weight, whether
// its classes are few, many, or many of which few count.
func TestSumsOfParts(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 2))
	const rows = 2*partRows + 52
	for _, c := range []struct {
		classes, count int // of a row
		wide, thin     bool
	}{
		{3, 3, false, false}, {wideClasses - 1, wideClasses - 1, false, false}, {wideClasses, wideClasses, true, false},
		{thinClasses + 3, (thinClasses + 3) / thinPart, false, true}, {thinClasses + 3, (thinClasses+3)/thinPart + 1, true, false},
	} {
		x, ratios, weights := dense.New(rows, c.classes), make([]float64, c.classes), make([]float64, rows)
		for k := range ratios {
			ratios[k] = 0.5 + rng.Float64()
		}
		want, all := make([]float64, c.classes), 0.0
		for i := range rows {
			row := dense.Row(x, i)
			sum, total := float32(0), 0.0
			for k := range c.count {
				at := (i + k) % c.classes
				row[at] = rng.Float32() + 0.1
				sum += row[at]
			}
			for k := range row {
				row[k] /= sum
				total += ratios[k] * float64(row[k])
			}
			weights[i] = rng.Float64()
			all += weights[i]
			for k, v := range row {
				want[k] += weights[i] * ratios[k] * float64(v) / total
			}
		}
		for k := range want {
			want[k] /= all
		}
		r, err := NewEMRows(x)
		if err != nil {
			t.Fatal(err)
		}
		if (r.wide.Rows > 0) != c.wide || (r.thin != nil) != c.thin {
			t.Errorf("%d classes of which %d count: wide %v, thin %v", c.classes, c.count, r.wide.Rows > 0, r.thin != nil)
		}
		got, err := newPosteriorSums(r, weights).mean(ratios)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, fmt.Sprint(c), got, want, 1e-9)
	}
}

// Shares of rows whose classes are certain have the variance p(1−p)/n, with two classes too.
func TestCovarianceOfCertainRows(t *testing.T) {
	x := dense.New(40, 2)
	for i := range x.Rows {
		x.Data[2*i+min(1, i/30)] = 1
	}
	p := []float64{.75, .25}
	s := NewEMSums(2)
	if err := s.Add(x, []float64{.5, .5}, p); err != nil {
		t.Fatal(err)
	}
	c, err := s.Covariance(p)
	if err != nil {
		t.Fatal(err)
	}
	const want = .75 * .25 / 40
	if math.Abs(c.At(0, 0)-want) > 1e-12 || math.Abs(c.At(0, 1)+want) > 1e-12 || math.Abs(c.At(1, 1)-want) > 1e-12 {
		t.Errorf("covariance %v, want ±%v", mat.Formatted(c), want)
	}
}

// What is just enough is taken, and one less is not.
func TestIntervalLimits(t *testing.T) {
	for want, o := range map[string]IntervalOptions{
		"": {Replicates: 2, Rows: 1},
		"labelshift: 1 replicates of 1 rows: give at least two replicates":  {Replicates: 1, Rows: 1},
		"labelshift: 2 replicates of -1 rows: give at least two replicates": {Replicates: 2, Rows: -1},
	} {
		got := ""
		if _, err := o.withDefaults(3); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%+v: error %q, want %q", o, got, want)
		}
	}
	panel := mustConsult(t, small().Problem)
	v, err := panel.Interval(t.Context(), IntervalOptions{Replicates: 2, Groups: [][]int{{0, 0, 0}, {0, 1, 1}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Groups) != 2 || len(v.Groups[0].Lower) != 1 || len(v.Groups[1].Lower) != 2 {
		t.Errorf("groups %+v", v.Groups)
	}
}

// So many rows and classes as were studied are not warned of, and one fewer, or one more, is.
func TestUnstudied(t *testing.T) {
	fit := func(classes, each, target int) *mte.MTE {
		rng := rand.New(rand.NewPCG(2, 3))
		p := mte.Problem{Source: dense.New(0, 3), Classes: classes, Names: []string{"first"}}
		row := func(k int) []float32 {
			return []float32{float32(9*k) + rng.Float32(), float32(k*k) + rng.Float32(), rng.Float32()}
		}
		for i := range classes * each {
			dense.Append(&p.Source, row(i%classes))
			p.Labels = append(p.Labels, int32(i%classes))
		}
		x := dense.New(0, 3)
		for i := range target {
			dense.Append(&x, row(i%classes))
		}
		p.Target = mte.InMemory(x)
		m, err := mte.Fit(t.Context(), p, mte.Options{Steps: 2})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	if words := unstudied(fit(manyClasses, fewOfClass, fewRows)); words != nil {
		t.Errorf("warnings %q", words)
	}
	words := unstudied(fit(manyClasses+1, fewOfClass-1, fewRows-1))
	want := []string{"there are only 149 target rows: the estimator has not been studied below 150", "there are 11 classes: the estimator has not been studied above 10",
		`class "first" has few source rows (9): little is known of where it lies`, "class 1 has few source rows (9): little is known of where it lies"}
	if len(words) != 2+11 || !slices.Equal(words[:4], want) {
		t.Errorf("warnings %q, want %q and so on", words, want)
	}
}

// Names of what is none say its number.
func TestNamesOfNone(t *testing.T) {
	for want, got := range map[string]fmt.Stringer{"Calibration(-1)": Calibration(-1), "Calibration(2)": Calibration(2), "bcts": Calibration(1),
		"Decision(-1)": Decision(-1), "Decision(2)": Decision(2), "balanced": Decision(1)} {
		if got.String() != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// No rows are calibrated to no rows.
func TestCalibrateNothing(t *testing.T) {
	if x := Uncalibrated(2).Apply(dense.New(0, 2)); x.Rows != 0 || x.Cols != 2 {
		t.Errorf("%d×%d", x.Rows, x.Cols)
	}
}

// A region that is flat holds nothing.
func TestFlatRegion(t *testing.T) {
	r := &Region{Classes: []int{1}, Mean: []float64{0}, Covariance: mat.NewSymDense(1, nil), Radius: 1}
	if r.Contains([]float64{.5, .5}) {
		t.Error("a flat region holds shares")
	}
}

// A guess that no class is there is no answer.
func TestGuessOfNothing(t *testing.T) {
	const n = manyVariables + 4
	g, h := mat.NewDense(n, n, nil), make([]float64, n)
	for i := range n {
		g.Set(i, i, 1)
		h[i] = -1
	}
	p, err := SimplexQuadratic(g, h, make([]float64, n))
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "shares", p, dense.Uniform(n), 1e-9)
}

// The weight of rows is a number of rows only beside that of others: rows of one weight are worth what they are without, and
// those of weight 0 nothing.
func TestRowIntervalOfWeights(t *testing.T) {
	source, target := []float64{.5, .3, .2}, []float64{.2, .2, .6}
	x := shiftedPosteriors(rand.New(rand.NewPCG(4, 5)), 60, source, target, 1.5)
	some, weights := dense.Rows(x, 0, 40), make([]float64, 60)
	for i := range 40 {
		weights[i] = 3
	}
	want, err := NewRowInterval(some, source, target, RowIntervalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := NewRowInterval(x, source, target, RowIntervalOptions{Weights: weights})
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "deviations", got.Deviation, want.Deviation, 1e-12)
	compare(t, "lower ends", got.Lower, want.Lower, 1e-12)
	compare(t, "upper ends", got.Upper, want.Upper, 1e-12)
	// Weights that differ are worth fewer rows, by Kish's rule.
	if n := effectiveRows(3, []float64{1, 2, 3}); math.Abs(n-36./14) > 1e-12 {
		t.Errorf("weights 1, 2 and 3 are worth %v rows, want 36/14", n)
	}
}

// Of a class without source rows nothing is known, whatever was found of it.
func TestRowIntervalOfAnUnknownClass(t *testing.T) {
	x := blas32.General{Rows: 2, Cols: 3, Stride: 3, Data: []float32{.5, .5, 0, .1, .9, 0}}
	v, err := NewRowInterval(x, []float64{.5, .5, 0}, []float64{.3, .7, 0}, RowIntervalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if v.Lower[2] != 0 || v.Upper[2] != 1 {
		t.Errorf("its share is from %v to %v, want from 0 to 1", v.Lower[2], v.Upper[2])
	}
}

// Rows of a target that are part of wider ones are clustered as they are.
func TestMatchedPartOfColumns(t *testing.T) {
	in := small()
	var whole []*Result
	for _, stride := range []int{3, 5} {
		own := in
		for x := range in.Target {
			y := blas32.General{Rows: x.Rows, Cols: 3, Stride: stride, Data: make([]float32, x.Rows*stride)}
			for i := range x.Rows {
				copy(y.Data[i*stride:], dense.Row(x, i))
			}
			own.Target = mte.InMemory(y)
		}
		r, err := Estimate(t.Context(), "marsc", own)
		if err != nil {
			t.Fatal(err)
		}
		whole = append(whole, r)
	}
	compare(t, "proportions", whole[1].Proportions, whole[0].Proportions, 0)
}
