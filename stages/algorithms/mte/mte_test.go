package mte

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
	"mars.dev/mars/stages/algorithms/internal/simulate"
	"mars.dev/mars/stages/algorithms/scale"
)

// task is a problem of four classes, and where its rows really belong.
func task() (p Problem, target blas32.General, truth []int32) {
	rng := rand.New(rand.NewPCG(3, 4))
	data := simulate.Blobs(rng, 800, 600, 5, []float64{0.25, 0.25, 0.3, 0.2}, []float64{0.55, 0.05, 0.1, 0.3}, 2.5, 0.8)
	return problem(data), data.Target, data.Truth
}

func problem(d simulate.Data) Problem {
	return Problem{Source: d.Source, Labels: d.Labels, Target: InMemory(d.Target), Classes: d.Classes}
}

// shares are those of the classes among the labels.
func shares(labels []int32, classes int) []float64 {
	p := make([]float64, classes)
	for _, l := range labels {
		p[l] += 1 / float64(len(labels))
	}
	return p
}

func mustFit(t *testing.T, p Problem, o Options) *MTE {
	t.Helper()
	m, err := Fit(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The classes have moved by 0.8 in all coordinates and their shares from about
// a quarter each; the labels of the target's rows come out with them.
func TestFindsShiftedClasses(t *testing.T) {
	p, _, truth := task()
	e := mustFit(t, p, Options{})
	share := shares(truth, 4)
	if d := dense.L1(e.Proportions, share); d > 0.05 {
		t.Errorf("proportions %.3f, want %.3f", e.Proportions, share)
	}
	wrong := 0
	for i, l := range truth {
		if dense.Argmax(dense.Row(e.Responsibilities, i)) != int(l) {
			wrong++
		}
	}
	if wrong > len(truth)/20 {
		t.Errorf("%d of %d rows have another class", wrong, len(truth))
	}
	if len(e.Starts) != 5 || len(e.Warnings) != 0 {
		t.Errorf("starts %v, warnings %v", e.Starts, e.Warnings)
	}
}

func TestWithoutShift(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	prior := []float64{0.5, 0.3, 0.2}
	data := simulate.Blobs(rng, 1500, 1500, 4, prior, prior, 2, 0)
	p, truth := problem(data), data.Truth
	share := shares(truth, 3)
	e := mustFit(t, p, Options{})
	for k, q := range share { // three standard errors of a share
		if math.Abs(e.Proportions[k]-q) > 3*math.Sqrt(q*(1-q)/1500) {
			t.Errorf("class %d: %v, want %v", k, e.Proportions[k], q)
		}
	}
}

func TestPermutedLabels(t *testing.T) {
	p, _, _ := task()
	before := mustFit(t, p, Options{})
	order := []int32{2, 0, 3, 1}
	q := p
	q.Labels = make([]int32, len(p.Labels))
	for i, l := range p.Labels {
		q.Labels[i] = order[l]
	}
	after := mustFit(t, q, Options{})
	for k, to := range order {
		if d := math.Abs(before.Proportions[k] - after.Proportions[to]); d > 1e-6 {
			t.Errorf("class %d: %v, and as class %d %v", k, before.Proportions[k], to, after.Proportions[to])
		}
	}
}

func TestPermutedRows(t *testing.T) {
	p, x, _ := task()
	before := mustFit(t, p, Options{})
	rng := rand.New(rand.NewPCG(6, 6))
	source, target := rng.Perm(p.Source.Rows), rng.Perm(600)
	q := Problem{Source: dense.Gather(p.Source, source), Target: InMemory(dense.Gather(x, target)), Classes: 4}
	for _, i := range source {
		q.Labels = append(q.Labels, p.Labels[i])
	}
	after := mustFit(t, q, Options{})
	compare(t, "proportions", after.Proportions, before.Proportions, 1e-6)
	for to, from := range target {
		for k, v := range dense.Row(after.Responsibilities, to) {
			if math.Abs(float64(v-dense.Row(before.Responsibilities, from)[k])) > 1e-4 {
				t.Fatalf("row %d: responsibility %v of class %d, want %v", to, v, k, dense.Row(before.Responsibilities, from)[k])
			}
		}
	}
}

// Blocks, and the number of threads, change nothing.
func TestBlocksAndThreads(t *testing.T) {
	p, x, _ := task()
	before := mustFit(t, p, Options{})
	p.Target = func(yield func(blas32.General, error) bool) {
		for lo := 0; lo < x.Rows; lo += 97 {
			if !yield(dense.Rows(x, lo, min(lo+97, x.Rows)), nil) {
				return
			}
		}
	}
	kernel.SetJobs(1)
	defer kernel.SetJobs(0)
	after := mustFit(t, p, Options{})
	compare(t, "proportions", after.Proportions, before.Proportions, 0)
	for i, v := range before.Responsibilities.Data {
		if after.Responsibilities.Data[i] != v {
			t.Fatalf("responsibility %d is %v, want %v", i, after.Responsibilities.Data[i], v)
		}
	}
}

// Of more rows than MaxRows a sample takes part in most steps.
func TestSample(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	data := simulate.Blobs(rng, 900, 6000, 4, dense.Uniform(3), []float64{0.7, 0.1, 0.2}, 2, 0.5)
	p, truth := problem(data), data.Truth
	share := shares(truth, 3)
	e := mustFit(t, p, Options{StartRows: 300, MaxRows: 1000})
	if d := dense.L1(e.Proportions, share); d > 0.03 {
		t.Errorf("proportions %.3f, want %.3f", e.Proportions, share)
	}
	if e.Responsibilities.Rows != 6000 {
		t.Errorf("%d rows of responsibilities", e.Responsibilities.Rows)
	}
}

// A class without source rows has nothing and a warning; the others are as if
// it were not there. A constant column changes nothing.
func TestAbsentClassAndConstantColumn(t *testing.T) {
	p, x, _ := task()
	before := mustFit(t, p, Options{})
	q := Problem{Source: withConstant(p.Source), Target: InMemory(withConstant(x)), Classes: 5}
	for _, l := range p.Labels {
		if l == 3 {
			l = 4
		}
		q.Labels = append(q.Labels, l)
	}
	after := mustFit(t, q, Options{})
	b := before.Proportions
	compare(t, "proportions", after.Proportions, []float64{b[0], b[1], b[2], 0, b[3]}, 1e-2)
	if after.Responsibilities.Cols != 5 || after.Responsibilities.Data[3] != 0 {
		t.Error("responsibilities have no column of zeros for the absent class")
	}
	want := "class 3 has no source rows: its share of the target can not be estimated and is given as 0"
	if len(after.Warnings) != 1 || after.Warnings[0] != want {
		t.Errorf("warnings %q", after.Warnings)
	}
}

func withConstant(x blas32.General) blas32.General {
	y := dense.New(x.Rows, x.Cols+1)
	for i := range x.Rows {
		copy(dense.Row(y, i), dense.Row(x, i))
		dense.Row(y, i)[x.Cols] = 7
	}
	return y
}

func TestProblemErrors(t *testing.T) {
	nan := float32(math.NaN())
	x := func(d int, v ...float32) blas32.General {
		return blas32.General{Rows: len(v) / d, Cols: d, Stride: d, Data: v}
	}
	good := x(1, 0, 1, 5, 6)
	y := []int32{0, 0, 1, 1}
	broken := func(yield func(blas32.General, error) bool) { yield(blas32.General{}, errors.New("the pipe broke")) }
	fit := func(source blas32.General, labels []int32, target Blocks) error {
		_, err := Fit(t.Context(), Problem{Source: source, Labels: labels, Target: target, Classes: 2}, Options{})
		return err
	}
	cases := []struct {
		err  error
		want string
	}{
		{fit(x(1, 0, 1, nan, 6), y, InMemory(good)), "mte: source row 2, column 0 is NaN: remove or repair"},
		{fit(good, y, InMemory(x(1, 0, nan))), "mte: target row 1, column 0 is NaN: remove or repair"},
		{fit(good, []int32{0, 0, 1, 2}, InMemory(good)), "mte: source row 3 has label 2: labels go from 0 to 1"},
		{fit(good, []int32{1, 1, 1, 1}, InMemory(good)), "mte: all source rows are of class 1: give rows of at least two classes"},
		{fit(x(1), nil, InMemory(good)), "mte: there are no source rows"},
		{fit(x(1, 3, 3, 3, 3), y, InMemory(good)), "mte: all source rows are equal"},
		{fit(x(1, 1, 2, 1, 2), y, InMemory(good)), "mte: all classes have the same mean"},
		{fit(good, y, InMemory(x(1, 1))), "mte: 1 target rows for 2 classes: give more target rows"},
		{fit(good, y, InMemory(x(2, 1, 2))), "mte: target rows have 2 columns and source rows 1"},
		{fit(good, y, InMemory(x(1, 2, 2, 2, 2))), "mte: all 4 target rows are equal: give the target's features"},
		{fit(good, y, broken), "mte: reading the target: the pipe broke"},
	}
	for _, c := range cases {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("error %v, want %q", c.err, c.want)
		}
	}
}

// Where classes are near, EM that is stopped early stays near the source's
// proportions.
func TestNearClasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	ended, stopped := 0.0, 0.0
	for range 10 {
		truth := simulate.Dirichlet(rng, 3)
		data := simulate.Blobs(rng, 1000, 500, 6, dense.Uniform(3), truth, 0.7, 0.3)
		p := problem(data)
		e := mustFit(t, p, Options{})
		ended += dense.L1(e.Proportions, truth) / 10
		stopped += dense.L1(mustFit(t, p, Options{Steps: 40}).Proportions, truth) / 10
		if e.Iterations > 200 || e.Converged != (e.Iterations < 200) {
			t.Errorf("%d steps, converged %v", e.Iterations, e.Converged)
		}
	}
	if ended > 0.75*stopped {
		t.Errorf("error %.3f, stopped after 40 steps %.3f", ended, stopped)
	}
}

// The end of the context ends the fit.
func TestCancelled(t *testing.T) {
	p, _, _ := task()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Fit(ctx, p, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// The task of the performance notes: 4,000 source and 2,000 target rows.
func BenchmarkFit(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	p := problem(simulate.Blobs(rng, 4000, 2000, 50, dense.Uniform(10), dense.Uniform(10), 1, 0.5))
	for b.Loop() {
		if _, err := Fit(b.Context(), p, Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// Rows that somebody has standardised already are used as they are: nothing changes. A
// column of a larger scale then counts for more.
func TestPrepared(t *testing.T) {
	p, target, _ := task()
	standard, _, err := scale.Fit(t.Context(), p.Source)
	if err != nil {
		t.Fatal(err)
	}
	want := mustFit(t, p, Options{})
	for _, x := range []blas32.General{p.Source, target} {
		if err := standard.Apply(t.Context(), x); err != nil {
			t.Fatal(err)
		}
	}
	got := mustFit(t, p, Options{Prepared: true})
	if d := dense.L1(got.Proportions, want.Proportions); d > 1e-4 {
		t.Errorf("proportions %v, want %v", got.Proportions, want.Proportions)
	}
	for i := range p.Source.Rows {
		dense.Row(p.Source, i)[0] *= 100
	}
	if rows, _ := mustFit(t, p, Options{Prepared: true}).SourceRows(); math.Abs(float64(dense.Row(rows, 0)[0])) != math.Abs(float64(dense.Row(p.Source, 0)[0])) {
		t.Error("a prepared column has lost its scale")
	}
}

// Few rows of many columns span fewer axes than are kept at most. What is left over is
// rounding, and no axis.
func TestFewRowsOfManyColumns(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	data := simulate.Blobs(rng, 30, 40, 80, []float64{0.5, 0.5}, []float64{0.5, 0.5}, 2.5, 0.8)
	rows, _ := mustFit(t, problem(data), Options{}).SourceRows()
	if rows.Cols != 29 {
		t.Errorf("30 rows have %d axes, want 29", rows.Cols)
	}
}
