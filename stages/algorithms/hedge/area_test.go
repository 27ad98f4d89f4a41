package hedge

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/internal/race"
	"mars.dev/mars/stages/algorithms/internal/dense"
)

// gaussians draws rows around a point, beside which the columns of every second row change their signs if
// they are crossed.
func gaussians(rng *rand.Rand, n int, at float32, crossed bool) blas32.General {
	x := dense.New(n, 3)
	for i := range x.Data {
		x.Data[i] = at + float32(rng.NormFloat64())
	}
	for i := range n {
		if row := dense.Row(x, i); crossed {
			row[1] = 0.3*row[1] + row[0]*(1-2*float32(i%2))
		} else {
			row[1] = 0.3*row[1] + row[0]
		}
	}
	return x
}

// Trees tell apart what differs, and nothing else, also where all means are those of the others.
func TestAreaBetween(t *testing.T) {
	for name, c := range map[string]struct {
		at          float32
		crossed     bool
		least, most float64
	}{
		"alike":            {0, false, 0.46, 0.54},
		"far apart":        {6, false, 0.99, 1},
		"of another shape": {0, true, 0.6, 0.9},
	} {
		rng := rand.New(rand.NewPCG(1, 0))
		sides := [2]*side{newSide(gaussians(rng, 800, 0, false), nil, rng), newSide(gaussians(rng, 800, c.at, c.crossed), nil, rng)}
		if area, err := areaBetween(t.Context(), sides, 0); err != nil || area < c.least || area > c.most {
			t.Errorf("%s: area %.3f, want %.2f to %.2f (%v)", name, area, c.least, c.most, err)
		}
	}
}

// Rows of classes in other proportions are told apart, unless they are weighed by the right ones.
func TestAreaOfWeights(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 0))
	draw := func(first int) blas32.General {
		x := gaussians(rng, first, 0, false)
		return dense.Rows(blas32.General{Rows: 1000, Cols: 3, Stride: 3, Data: append(x.Data, gaussians(rng, 1000-first, 3, false).Data...)}, 0, 1000)
	}
	source, target := draw(500), draw(900)
	right := slices.Concat(slices.Repeat([]float64{0.9 / 0.5}, 500), slices.Repeat([]float64{0.1 / 0.5}, 500))
	for name, weights := range map[string][]float64{"right": right, "none": nil} {
		area, err := areaBetween(t.Context(), [2]*side{newSide(source, weights, rng), newSide(target, nil, rng)}, 0)
		if err != nil || math.Abs(area-0.5) > 0.05 != (weights == nil) {
			t.Errorf("%s: area %.3f (%v)", name, area, err)
		}
	}
}

// The area is that of pairs, counted one by one.
func TestWeightedArea(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 0))
	sides := scoredSides(rng, 30, slices.Repeat([]float64{1, 3}, 15))
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

// A row of weight 3 counts as three rows do.
func TestWeightsAreCopies(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 0))
	weighted := scoredSides(rng, 20, slices.Repeat([]float64{1, 3}, 10))
	copies := scoredSides(rng, 40, nil)
	for k, s := range weighted {
		copies[k].scores = nil
		for i, v := range s.scores {
			copies[k].scores = append(copies[k].scores, slices.Repeat([]float64{v}, 1+2*(i%2))...)
		}
	}
	if a, b := weightedArea(weighted), weightedArea(copies); math.Abs(a-b) > 1e-12 {
		t.Errorf("area %v, and %v of copies", a, b)
	}
}

// scoredSides have scores with ties.
func scoredSides(rng *rand.Rand, n int, weights []float64) (sides [2]*side) {
	for k := range sides {
		s := newSide(dense.New(n, 1), weights, rng)
		for i := range s.scores {
			s.scores[i] = float64(rng.IntN(8) + k)
		}
		sides[k] = s
	}
	return sides
}

// Rows of one weight are worth what they are, and one that outweighs all others is worth one.
func TestWorth(t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 0))
	for want, weights := range map[float64][]float64{8: nil, 1: {1e9, 0, 0, 0, 0, 0, 0, 0}, 4: {1, 1, 1, 1, 0, 0, 0, 0}} {
		if got := newSide(dense.New(8, 1), weights, rng).worth(); math.Abs(got-want) > 1e-4 {
			t.Errorf("weights %v are worth %v rows, want %v", weights, got, want)
		}
	}
}

// The target looks like what the right view expects, and not like what others do.
func TestApartOfViews(t *testing.T) {
	if race.Detector {
		t.Skip("takes a minute under the race detector")
	}
	for name, c := range map[string]struct {
		shares       []float64
		displacement [][]float64
		right, wrong []string
	}{
		"nothing":      {even, nowhere, []string{"same", "balance"}, nil},
		"proportions":  {uneven, nowhere, []string{"same", "balance"}, nil},
		"all together": {even, together, []string{"together"}, []string{"same", "balance"}},
		"class alone":  {uneven, apart, []string{"classes"}, []string{"same", "balance"}},
	} {
		m, _ := fitted(t, newProblem(600, even, c.shares, c.displacement), Options{})
		for _, v := range m.Views {
			switch {
			case slices.Contains(c.right, v.Name) && (v.Apart > 0.56 || v.Blurred > 0.56 || v.Beyond > 4):
				t.Errorf("%s: the target is told from what %q expects: %.3f, blurred %.3f, %.1f deviations", name, v.Name, v.Apart, v.Blurred, v.Beyond)
			case slices.Contains(c.wrong, v.Name) && (v.Apart < 0.65 || v.Blurred < 0.6 || v.Beyond < 6):
				t.Errorf("%s: the target is not told from what %q expects: %.3f, blurred %.3f, %.1f deviations", name, v.Name, v.Apart, v.Blurred, v.Beyond)
			}
		}
	}
}

// Rows of few values that have hardly moved give themselves away, unless they are blurred.
func TestBlurred(t *testing.T) {
	if race.Detector {
		t.Skip("takes a minute under the race detector")
	}
	rng := rand.New(rand.NewPCG(17, 0))
	draw := func() (x blas32.General, labels []int32) {
		x = dense.New(900, 3)
		for i := range x.Rows {
			y := int32(i % 2)
			for j := range x.Cols {
				x.Data[i*x.Stride+j] = float32(rng.IntN(3)) + 2*float32(y)*float32(rng.IntN(2))
			}
			labels = append(labels, y)
		}
		return x, labels
	}
	p := problem{}
	p.Classes = []string{"a", "b"}
	p.Source, p.Labels = draw()
	p.Target, p.truth = draw()
	m, _ := fitted(t, p, Options{})
	for _, v := range m.Views {
		if v.moves() && (v.Apart < 0.8 || v.Blurred > 0.7) {
			t.Errorf("rows that are moved by %q are told apart by %.3f, and blurred by %.3f", v.Name, v.Apart, v.Blurred)
		}
	}
}

// That nothing has changed leaves room for other rows of the same kind, and for none of elsewhere.
func TestApartWhereNothingChanged(t *testing.T) {
	for name, c := range map[string]struct {
		keep func(x []float32, y int32) float64
		move float32
		same bool // the target is told from what "same" expects
	}{
		"chosen":    {func(x []float32, _ int32) float64 { return 1 / (1 + math.Exp(-3*float64(x[2]))) }, 0, false},
		"elsewhere": {func([]float32, int32) float64 { return 1 }, 6, true},
	} {
		p := chosen(500, c.keep)
		for i := range p.Target.Rows {
			dense.Row(p.Target, i)[3] += c.move
		}
		m, _ := fitted(t, p, Options{Classifiers: []string{"logistic"}})
		if same := m.Views[0]; (same.Apart > 0.6) != c.same || (same.Beyond > 4) != c.same {
			t.Errorf("%s: the target is told from what %q expects by %.3f, %.1f deviations", name, same.Name, same.Apart, same.Beyond)
		}
		if balance := m.Views[1]; balance.Apart < 0.65 {
			t.Errorf("%s: the target is not told from what %q expects: %.3f", name, balance.Name, balance.Apart)
		}
	}
}
