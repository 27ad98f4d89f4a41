package hedge

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/internal/race"
	"mars.dev/mars/stages/algorithms/internal/dense"
)

// chosen is a table of four columns whose label depends on the first two, by chance. Rows of the
// target are kept with a probability that depends on their columns, or on their label.
func chosen(n int, keep func(x []float32, y int32) float64) problem {
	rng := rand.New(rand.NewPCG(12, 0))
	p := problem{}
	p.Classes = []string{"no", "yes"}
	draw := func(keep func(x []float32, y int32) float64) (x blas32.General, labels []int32) {
		x = dense.New(0, 4)
		for x.Rows < n {
			row := make([]float32, 4)
			for j := range row {
				row[j] = float32(rng.NormFloat64())
			}
			y := int32(0)
			if rng.Float64() < 1/(1+math.Exp(-float64(row[0]+row[1]))) {
				y = 1
			}
			if rng.Float64() < keep(row, y) {
				dense.Append(&x, row)
				labels = append(labels, y)
			}
		}
		return x, labels
	}
	p.Source, p.Labels = draw(func([]float32, int32) float64 { return 1 })
	p.Target, p.truth = draw(keep)
	return p
}

// New proportions of classes that overlap could explain rows that were chosen by their columns,
// and are not believed alone there: they say that one class is gone.
func TestChosenRows(t *testing.T) {
	if race.Detector {
		t.Skip("takes a minute under the race detector")
	}
	byColumns := func(x []float32, _ int32) float64 {
		return min(1, math.Exp(0.6*float64(x[0])+0.6*float64(x[1])+0.3*float64(x[2])-1.5))
	}
	byLabel := func(_ []float32, y int32) float64 { return []float64{0.25, 1}[y] }
	for name, c := range map[string]struct {
		keep        func([]float32, int32) float64
		least, most float64 // weight of the view that nothing has changed
	}{"by columns": {byColumns, 0.03, 1}, "by label": {byLabel, 0, 0.5}} {
		p := chosen(700, c.keep)
		m, _ := fitted(t, p, Options{})
		if m.Problem.Separation > 0.55 {
			t.Fatalf("%s: %+v: the case is of another kind", name, m.Problem)
		}
		if w := m.Views[0].Weight; w < c.least || w > c.most {
			t.Errorf("%s: weight %.3f that nothing has changed, want %.2f to %.2f: %+v", name, w, c.least, c.most, m.Problem)
		}
		truth := make([]float64, 2)
		for _, y := range p.truth {
			truth[y] += 1 / float64(len(p.truth))
		}
		if e := dense.L1(m.Proportions, truth); e > 0.3 {
			t.Errorf("%s: p_T is off by %.3f: %v, and is %v", name, e, m.Proportions, truth)
		}
	}
}

// A target of one region, where the source has rows, has not moved.
func TestOneRegion(t *testing.T) {
	if race.Detector {
		t.Skip("takes a minute under the race detector")
	}
	rng := rand.New(rand.NewPCG(13, 0))
	draw := func(low, high float64) (x blas32.General, labels []int32) {
		x = dense.New(600, 2)
		for i := range x.Rows {
			row := dense.Row(x, i)
			row[0], row[1] = float32(6*rng.Float64()-3), float32(low+(high-low)*rng.Float64())
			y := int32(0)
			if float64(row[0])+0.8*rng.NormFloat64() > 1.5*math.Sin(2*float64(row[1])) {
				y = 1
			}
			labels = append(labels, y)
		}
		return x, labels
	}
	p := problem{}
	p.Classes = []string{"left", "right"}
	p.Source, p.Labels = draw(-3, 3)
	p.Target, p.truth = draw(0.3, 1.3)
	m, q := fitted(t, p, Options{})
	if m.Problem.Separation < 0.65 || m.Problem.Misfit < 32 {
		t.Fatalf("%+v: the case is of another kind", m.Problem)
	}
	_, still := fitted(t, p, Options{Assume: []string{"same"}})
	if found, want := accuracy(q, p.truth), accuracy(still, p.truth)-0.015; found < want {
		t.Errorf("accuracy %.3f, want %.3f at least: %+v", found, want, m.Views)
	}
}
