package ppi

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A world is the classes of rows and what a model says of them.
type world struct {
	class      []int
	posteriors [][]float32
}

// newWorld makes rows of three classes, of shares .6, .3 and .1. Of a model that is right, the
// posteriors are those of the rows; wrong is the share of rows that are of the first class though the
// model is sure of another.
func newWorld(n int, sharp, wrong float64, rng *rand.Rand) world {
	var w world
	for range n {
		u, k := rng.Float64(), 0
		switch {
		case u > 0.9:
			k = 2
		case u > 0.6:
			k = 1
		}
		p, sum := make([]float32, 3), float32(0)
		for j, share := range []float64{0.6, 0.3, 0.1} {
			x := rng.NormFloat64()
			if j == k {
				x += sharp
			}
			p[j] = float32(share * math.Exp(sharp*x))
			sum += p[j]
		}
		for j := range p {
			p[j] /= sum
		}
		if rng.Float64() < wrong {
			k, p = 0, []float32{0.002, 0.003, 0.995}
		}
		w.class, w.posteriors = append(w.class, k), append(w.posteriors, p)
	}
	return w
}

// shares are those of the classes.
func (w world) shares() []float64 {
	s := make([]float64, 3)
	for _, k := range w.class {
		s[k] += 1 / float64(len(w.class))
	}
	return s
}

// sample draws rows, and labels the first of them.
func (w world) sample(budget, labelled int, seed uint64) (*Sample, []int) {
	var sizes []float64
	s, means := &Sample{Total: len(w.class)}, make([]float64, 3)
	for _, p := range w.posteriors {
		sizes = append(sizes, Doubt(p, -1))
		for k, q := range p {
			means[k] += float64(q) / float64(len(w.class))
		}
	}
	uniform, chosen := Budget(budget, false)
	counts, whole := make([]int, 3), []float64(nil)
	for _, d := range Take(sizes, uniform, chosen, seed)[:labelled] {
		y, f := make([]float64, 3), make([]float64, 3)
		y[w.class[d.Row]] = 1
		for k, q := range w.posteriors[d.Row] {
			f[k] = float64(q)
		}
		s.Y, s.F, s.Means, whole = append(s.Y, y), append(s.F, f), append(s.Means, means), append(whole, d.Probability)
		if d.Part == Uniform {
			s.Uniform++
			counts[w.class[d.Row]]++
		}
	}
	s.Inclusion = Stopped(whole, s.Total, [2]int{uniform, chosen}, [2]int{s.Uniform, labelled - s.Uniform})
	return s, counts
}

// Intervals hold the shares as often as they say, whether the model is right, useless, or sure and
// wrong, and whether all drawn rows are labelled or the first of them; and the sharper ones are
// narrower where the model is right.
func TestCoverage(t *testing.T) {
	const rows, budget, repeats, level = 600, 50, 300, 0.9
	for name, test := range map[string]struct {
		sharp, wrong float64
		labelled     int
		narrower     float64 // width of the sharper intervals in the mean, by that of Wilson's of as many rows
	}{
		"right": {2.5, 0, budget, 0.6}, "stopped": {2.5, 0, 31, 0.65}, "useless": {0.1, 0, budget, 1.2}, "sure and wrong": {2.5, 0.1, budget, 1.2},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(rows, test.sharp, test.wrong, rand.New(rand.NewPCG(7, 8)))
			truth := w.shares()
			exact, sharper, width, wilson := 0.0, make([]float64, 3), 0.0, 0.0
			for r := range repeats {
				s, counts := w.sample(budget, test.labelled, uint64(r))
				e := s.Difference(level)
				for k, share := range truth {
					if v := Exact(counts[k], counts[k], s.Uniform, rows, level); v.Lower <= share && share <= v.Upper {
						exact++
					}
					if v := e.Intervals[k]; v.Lower <= share && share <= v.Upper {
						sharper[k]++
					}
					width += e.Intervals[k].Width()
					wilson += Wilson(int(share*float64(test.labelled)+0.5), test.labelled, level).Width()
				}
			}
			if c := exact / (3 * repeats); c < level-0.01 {
				t.Errorf("the exact intervals hold %.3f of the shares", c)
			}
			for k, n := range sharper {
				if c := n / repeats; c < 0.85 {
					t.Errorf("the sharper intervals hold %.3f of the shares of class %d", c, k)
				}
			}
			if got := width / wilson; got > test.narrower {
				t.Errorf("the sharper intervals are %.2f times as wide as Wilson's, want at most %.2f", got, test.narrower)
			}
		})
	}
}

// A target of which all rows are labelled has no doubt left.
func TestAllLabelled(t *testing.T) {
	w := newWorld(40, 1, 0.2, rand.New(rand.NewPCG(3, 4)))
	s, _ := w.sample(40, 40, 0)
	e := s.Difference(0.9)
	for k, share := range w.shares() {
		if v := e.Intervals[k]; math.Abs(v.Lower-share) > 1e-12 || math.Abs(v.Upper-share) > 1e-12 {
			t.Errorf("class %d: %v, want %v", k, v, share)
		}
	}
}
