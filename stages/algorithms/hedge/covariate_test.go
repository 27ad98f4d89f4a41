package hedge

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

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
// and are not believed there. They are where they have changed.
func TestChosenRows(t *testing.T) {
	byColumns := func(x []float32, _ int32) float64 {
		return min(1, math.Exp(0.6*float64(x[0])+0.6*float64(x[1])+0.3*float64(x[2])-1.5))
	}
	byLabel := func(_ []float32, y int32) float64 { return []float64{0.25, 1}[y] }
	for name, c := range map[string]struct {
		keep        func([]float32, int32) float64
		least, most float64 // weight of the view that nothing has changed
	}{"by columns": {byColumns, 0.9, 1}, "by label": {byLabel, 0, 0.5}} {
		p := chosen(700, c.keep)
		m, _ := fitted(t, p, Options{})
		if m.Still.Overlap() < 0.9 || m.Stays.Trust < 0.9 {
			t.Fatalf("%s: %+v, %+v: the case is of another kind", name, m.Still, m.Stays)
		}
		if w := m.Views[0].Weight; w < c.least || w > c.most {
			t.Errorf("%s: weight %.3f that nothing has changed, want %.1f to %.1f: %+v", name, w, c.least, c.most, m.Stays)
		}
		truth := make([]float64, 2)
		for _, y := range p.truth {
			truth[y] += 1 / float64(len(p.truth))
		}
		if e := dense.L1(m.Proportions, truth); e > 0.15 {
			t.Errorf("%s: p_T is off by %.3f: %v, and is %v", name, e, m.Proportions, truth)
		}
	}
}

// A target of one region, where the source has rows, has not moved.
func TestOneRegion(t *testing.T) {
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
	if m.Still.Overlap() > 0.1 || m.Stays.Misfit < clearMisfit {
		t.Fatalf("%+v, %+v: the case is of another kind", m.Still, m.Stays)
	}
	_, still := fitted(t, p, Options{Assume: []string{"same"}})
	if found, want := accuracy(q, p.truth), accuracy(still, p.truth)-0.015; found < want {
		t.Errorf("accuracy %.3f, want %.3f at least: %+v", found, want, m.Views)
	}
}

// Movements are held against a target that lies within the source, and does not look like it.
func TestScoresOfInside(t *testing.T) {
	scores := func(inside float64) []float64 {
		m := &Model{Stays: Stays{Inside: inside}, Still: Still{Separation: 1}}
		for _, name := range Views {
			m.Views = append(m.Views, View{Name: name, Circle: 0.8})
		}
		return m.scores()
	}
	for i, v := range scores(0.5) {
		change, want := v-scores(0)[i], insideScore/2.
		if i < 2 {
			want = 0
		}
		if math.Abs(change-want) > 1e-9 {
			t.Errorf("view %s changes by %v, want %v", Views[i], change, want)
		}
	}
}

func TestInside(t *testing.T) {
	for _, c := range []struct {
		novelty, misfit float64
		columns         int
		want            float64
	}{
		{0, clearMisfit, 2, 1}, {0, 1e4, insideColumns, 1}, {lastInside / 2, 1e4, 2, 0.5}, {lastInside, 1e4, 2, 0},
		{0, lastMisfit, 2, 0}, {0, (lastMisfit + clearMisfit) / 2, 2, 0.5}, {0, 1e4, (insideColumns + manyColumns) / 2, 0.5}, {0, 1e4, manyColumns, 0},
	} {
		if got := inside(c.novelty, c.misfit, c.columns); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// The area is that of pairs, counted one by one.
func TestWeightedArea(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 0))
	var sides [2]*linearSide
	for k := range sides {
		s := newLinearSide(dense.New(30, 1), slices.Repeat([]float64{1, 3}, 15), rng)
		for i := range s.scores {
			s.scores[i] = float64(rng.IntN(8) + k)
		}
		sides[k] = s
	}
	want := 0.0
	for i, a := range sides[0].scores {
		for j, b := range sides[1].scores {
			w := sides[0].weights[i] * sides[1].weights[j]
			switch {
			case b > a:
				want += w
			case b == a:
				want += w / 2
			}
		}
	}
	if got := weightedArea(sides); math.Abs(got-want) > 1e-12 {
		t.Errorf("area %v, and %v by pairs", got, want)
	}
}

// Weight goes from the views that move nothing to the others as far as a rival is clear.
func TestTrustRival(t *testing.T) {
	weights := func(rival float64, w ...float64) []float64 {
		m := &Model{Stays: Stays{Rival: rival}}
		for i, name := range Views {
			m.Views = append(m.Views, View{Name: name, Weight: w[i]})
		}
		m.trustRival()
		var got []float64
		for _, v := range m.Views {
			got = append(got, math.Round(1e9*v.Weight)/1e9)
		}
		return got
	}
	mixed := []float64{.2, .4, .2, .1, .1}
	for _, c := range []struct {
		rival float64
		w     []float64
		want  []float64
	}{
		{lastRival, mixed, mixed},
		{(lastRival + sureRival) / 2, mixed, []float64{.1, .2, .35, .175, .175}},
		{sureRival, mixed, []float64{0, 0, .5, .25, .25}},
		{sureRival, []float64{.5, .5, 0, 0, 0}, []float64{.5, .5, 0, 0, 0}},
	} {
		if got := weights(c.rival, c.w...); !slices.Equal(got, c.want) {
			t.Errorf("rival %v: weights %v of %v, want %v", c.rival, got, c.w, c.want)
		}
	}
}
