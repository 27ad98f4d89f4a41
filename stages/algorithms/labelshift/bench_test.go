package labelshift

import (
	"math/rand/v2"
	"testing"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/simulate"
	"mars.dev/mars/stages/algorithms/mte"
)

func problem(d simulate.Data) mte.Problem {
	return mte.Problem{Source: d.Source, Labels: d.Labels, Target: mte.InMemory(d.Target), Classes: d.Classes}
}

// task is a problem of four classes, and where its rows really belong.
func task() (mte.Problem, []int32) {
	rng := rand.New(rand.NewPCG(3, 4))
	data := simulate.Blobs(rng, 800, 600, 5, []float64{0.25, 0.25, 0.3, 0.2}, []float64{0.55, 0.05, 0.1, 0.3}, 2.5, 0.8)
	return problem(data), data.Truth
}

// Intervals from 200 replicates, on 4,000 source and 2,000 target rows.
func BenchmarkInterval(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	p := problem(simulate.Blobs(rng, 4000, 2000, 50, dense.Uniform(10), dense.Uniform(10), 1, 0.5))
	panel, err := Consult(b.Context(), p, linear, mte.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := panel.Interval(b.Context(), IntervalOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}
