package ppi

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A model that is wrong in one half of the target learns it from labels: shares are nearer to the truth than
// by new weights alone, and the intervals narrower, and hold no less.
func TestLearner(t *testing.T) {
	const total, labels, repeats = 600, 60, 60
	rng := rand.New(rand.NewPCG(5, 6))
	x, p, y := make([][]float64, total), make([][]float64, total), make([]int, total)
	share := 0.0
	for i := range x {
		x[i] = []float64{rng.NormFloat64(), rng.NormFloat64()}
		right := 0.5 + 0.4*math.Tanh(2*x[i][0])
		p[i] = []float64{right, 1 - right}
		chance := right
		if x[i][1] > 0 { // where the rule is another
			chance = min(right+0.4, 1)
		}
		if rng.Float64() >= chance {
			y[i] = 1
		}
		share += float64(1-y[i]) / total
	}
	type outcome struct{ off, width, held float64 }
	asked := func(learns bool) (all outcome) {
		rng := rand.New(rand.NewPCG(7, 8))
		for range repeats {
			l, s := &Learner{Weights: []float64{1}, Known: 2, Error: 0.3}, &Sample{Total: total, Uniform: labels}
			var views, vectors [][]float64
			var doubts []float64
			for _, i := range rng.Perm(total)[:labels] {
				views, vectors, doubts = append(views, p[i]), append(vectors, x[i]), append(doubts, ErrorDoubt(p[i], 2))
				l.Labels, s.Inclusion = append(l.Labels, y[i]), append(s.Inclusion, float64(labels)/total)
				s.Y = append(s.Y, []float64{float64(1 - y[i]), float64(y[i])})
			}
			field, mean := NewField(vectors, doubts), make([]float64, 2)
			for i := range x {
				field.Show(x[i], ErrorDoubt(p[i], 2))
				mean[0] += p[i][0] / total
				mean[1] += p[i][1] / total
			}
			l.Views, l.Means = [][][]float64{views}, [][]float64{mean}
			if learns {
				l.Field = field
			}
			s.F, s.Means = l.CrossFit()
			e := s.Difference(0.9)
			all.off += math.Abs(l.Shares(e, total)[0]-share) / repeats
			all.width += e.Intervals[0].Width() / repeats
			if e.Intervals[0].Lower <= share && share <= e.Intervals[0].Upper {
				all.held += 1. / repeats
			}
		}
		return all
	}
	with, without := asked(true), asked(false)
	if with.off > 0.6*without.off || with.width > 0.99*without.width || with.held < 0.86 {
		t.Errorf("with what it learns the model is off by %.3f, its intervals are %.3f wide and hold %.2f; without %.3f, %.3f and %.2f",
			with.off, with.width, with.held, without.off, without.width, without.held)
	}
}

// From more labels than a model learns from, it does so in bounded time, and what it says stays shares.
func TestLearnerOfMany(t *testing.T) {
	const labels = mostLearnt + 50
	rng := rand.New(rand.NewPCG(9, 10))
	l := &Learner{Weights: []float64{1}, Means: [][]float64{{0.5, 0.5, 0}}, Known: 2, Error: 0.5}
	var views, vectors [][]float64
	var doubts []float64
	for i := range labels {
		views, vectors, doubts = append(views, []float64{0.5, 0.5, 0}), append(vectors, []float64{rng.NormFloat64()}), append(doubts, 0.7)
		l.Labels = append(l.Labels, min(i%5, 2))
	}
	l.Views, l.Field = [][][]float64{views}, NewField(vectors, doubts)
	for _, row := range vectors {
		l.Field.Show(row, 0.7)
	}
	shares := l.Shares(&Estimate{Value: []float64{0.2, 0.2, 0.6}}, labels)
	if math.Abs(shares[0]+shares[1]+shares[2]-1) > 1e-9 || shares[2] != 0.6 || math.Abs(shares[0]-0.2) > 0.02 {
		t.Errorf("shares %v, want .2, .2 and .6", shares)
	}
}
