package hedge

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"mars.dev/mars/internal/race"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/labelshift"
)

// everyRow goes through all rows of the target, in so many parts, until the fixed point.
func everyRow(t *testing.T, m *Model, p Problem, parts int) (*EveryRow, *Sums, Point) {
	t.Helper()
	point, err := m.Start()
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		total := m.NewSums()
		for i := range parts {
			s := m.NewSums()
			lo, hi := i*p.Target.Rows/parts, (i+1)*p.Target.Rows/parts
			if err := m.Respond(t.Context(), s, point, m.Prepare(dense.Rows(p.Target, lo, hi))); err != nil {
				t.Fatal(err)
			}
			total.AddSums(s)
		}
		next, step, err := m.Next(total, point)
		if err != nil {
			t.Fatal(err)
		}
		if Done(step) {
			a, err := m.Answer(total, next, 0.9)
			if err != nil {
				t.Fatal(err)
			}
			return a, total, next
		}
		point = next
	}
	t.Fatal("no fixed point in 20 passes")
	return nil, nil, nil
}

func hedged(t *testing.T, p Problem, assume ...string) *Model {
	t.Helper()
	m, err := Fit(t.Context(), p, Options{Assume: assume, Interval: &IntervalOptions{}})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The sums of all rows, and so the answer, are the same however the rows are divided.
func TestEveryRowInParts(t *testing.T) {
	if race.Detector {
		t.Skip("takes a minute under the race detector")
	}
	for _, p := range []problem{newProblem(1501, even, uneven, apart), newProblem(1501, even, even, nowhere)} {
		inParts(t, p.Problem)
	}
}

func inParts(t *testing.T, p Problem) {
	m := hedged(t, p)
	whole, sums, _ := everyRow(t, m, p, 1)
	for _, parts := range []int{7, 64, 1500} {
		a, other, _ := everyRow(t, m, p, parts)
		for k := range whole.Proportions {
			if math.Abs(a.Proportions[k]/whole.Proportions[k]-1) > 1e-10 || a.Interval.Lower[k] != whole.Interval.Lower[k] {
				t.Errorf("%d parts: the proportions are %v, and of the whole %v", parts, a.Proportions, whole.Proportions)
			}
		}
		for c, em := range sums.EM {
			if em != nil && em.Second[0].String() != other.EM[c].Second[0].String() {
				t.Errorf("%d parts: the sums of classifier %d differ", parts, c)
			}
		}
	}
}

// If the fit saw all rows, the sums of all rows give its answer: each view's proportions.
func TestEveryRowOfTheFit(t *testing.T) {
	if race.Detector {
		t.Skip("takes a minute under the race detector")
	}
	for _, displacement := range [][][]float64{nowhere, together, apart} {
		p := newProblem(1500, even, uneven, displacement).Problem
		m := hedged(t, p)
		a, _, _ := everyRow(t, m, p, 3)
		for i, v := range m.Views {
			tolerance := 1e-7
			if v.Name == "balance" || v.Name == "together" {
				tolerance = 1e-3 // a fit's EM ends when its steps are small
			}
			if d := dense.L1(v.Proportions, a.Views[i].Proportions); m.kept(v) && d > tolerance {
				t.Errorf("view %s: the proportions of all rows are %v, of the fit %v", v.Name, a.Views[i].Proportions, v.Proportions)
			}
		}
		for k, p := range a.Proportions {
			// Classes that are far apart have the sampling error of a share.
			if want := math.Sqrt(p * (1 - p) / 1500); math.Abs(a.Sampling[k]/want-1) > 0.2 {
				t.Errorf("class %d: a sampling error of %v, want about %v", k, a.Sampling[k], want)
			}
			for _, ends := range [][2]float64{{a.Interval.Lower[k], m.Interval.Lower[k]}, {a.Interval.Upper[k], m.Interval.Upper[k]}} {
				if math.Abs(ends[0]-ends[1]) > 0.02 {
					t.Errorf("class %d: the interval ends at %v by sums, and at %v by the bootstrap", k, ends[0], ends[1])
				}
			}
		}
	}
}

// A view that matches moves with the proportions of all rows, though the fit saw a part of the
// target in which they are others.
func TestEveryRowOfMatchedViews(t *testing.T) {
	if race.Detector {
		t.Skip("takes a minute under the race detector")
	}
	all := newProblem(3000, even, uneven, apart)
	some := all.Problem
	some.Target = dense.Rows(newProblem(1500, even, even, apart).Target, 0, 600)
	m := hedged(t, some, "classes")
	a, _, _ := everyRow(t, m, all.Problem, 3)
	of := func(views []View) []float64 {
		for _, v := range views {
			if v.Name == "classes" && m.kept(v) {
				return v.Proportions
			}
		}
		t.Fatal("there is no view of classes")
		return nil
	}
	before, after := dense.L1(of(m.Views), uneven), dense.L1(of(a.Views), uneven)
	t.Logf("the view is off by %.3f as fitted, and by %.3f with all rows", before, after)
	if before < 0.2 || after > 0.1 {
		t.Errorf("of all rows the view is off by %.3f; as fitted by %.3f", after, before)
	}
}

// Under label shift alone the answer is EM's fixed point on all rows, though the fit has seen
// but some of them.
func TestEveryRowIsEM(t *testing.T) {
	if race.Detector {
		t.Skip("takes a minute under the race detector")
	}
	all := newProblem(6000, even, uneven, nowhere).Problem
	some := all
	some.Target = dense.Gather(all.Target, rand.New(rand.NewPCG(9, 9)).Perm(all.Target.Rows)[:400])
	m := hedged(t, some, "balance")
	a, _, _ := everyRow(t, m, all, 7)
	posteriors := m.classifiers[0].Predict(m.Prepare(all.Target))
	em, err := labelshift.EM(posteriors, m.prior, labelshift.EMOptions{Iterations: 1_000_000, Tolerance: 1e-15})
	if err != nil {
		t.Fatal(err)
	}
	if d := dense.L1(a.Proportions, em.Proportions); d > 1e-9 {
		t.Errorf("the proportions are %v, EM's %v: L1 %g", a.Proportions, em.Proportions, d)
	}
	if d := dense.L1(m.Proportions, em.Proportions); d < 1e-4 {
		t.Errorf("the fit to some rows had the same proportions: %v", m.Proportions)
	}
	if a.Rows != int64(all.Target.Rows) || a.Interval.Upper[0]-a.Interval.Lower[0] > m.Interval.Upper[0]-m.Interval.Lower[0] {
		t.Errorf("%d rows: the interval %v is wider than that of some rows %v", a.Rows, a.Interval, m.Interval)
	}
}

// What a row adds does not depend on the rows beside it, to the last bit.
func TestPosteriorsDoNotDependOnNeighbours(t *testing.T) {
	p := newProblem(1100, even, uneven, apart).Problem
	m := hedged(t, p)
	z := m.Prepare(p.Target)
	for c, model := range m.classifiers {
		if model == nil {
			continue
		}
		whole := model.Predict(z)
		for lo := 0; lo < z.Rows; {
			hi := min(z.Rows, lo+1+lo%13)
			part := model.Predict(m.Prepare(dense.Rows(p.Target, lo, hi)))
			for i, v := range part.Data {
				if v != whole.Data[lo*whole.Cols+i] {
					t.Fatalf("classifier %d: rows %d to %d have other posteriors alone: %v and %v", c, lo, hi, v, whole.Data[lo*whole.Cols+i])
				}
			}
			lo = hi
		}
	}
}

// A model that was saved begins where it began, and one of an older version is refused.
func TestStart(t *testing.T) {
	m := hedged(t, newProblem(300, even, uneven, nowhere).Problem)
	var file bytes.Buffer
	if err := m.Save(&file); err != nil {
		t.Fatal(err)
	}
	loaded, err := Load(&file, "m")
	if err != nil {
		t.Fatal(err)
	}
	want, err := m.Start()
	if err != nil {
		t.Fatal(err)
	}
	got, err := loaded.Start()
	if err != nil {
		t.Fatal(err)
	}
	for c := range want {
		if len(want[c]) != len(got[c]) || want[c] != nil && dense.L1(want[c], got[c]) > 0 {
			t.Errorf("classifier %d begins at %v, and at %v when it was saved", c, want[c], got[c])
		}
	}
	if err := loaded.CheckPoint(got[:1]); err == nil {
		t.Error("a point of other classifiers passes")
	}
	for i := range loaded.Views {
		loaded.Views[i].FixedPoint = nil
	}
	if _, err := loaded.Start(); err == nil {
		t.Error("a model without fixed points begins")
	}
}
