package mte

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

const (
	// replicateGroup is how many replicates go through the rows together.
	replicateGroup = 8
	// replicateTolerance ends the steps of replicates, in L1: what a step still
	// changes is nothing beside what the replicates differ by.
	replicateTolerance = 1e-4
)

// Bootstrap returns the proportions (of the present classes) of replicates by
// Rubin's bootstrap (1981): each weights all rows of both domains anew by
// independent exponential numbers, takes class means and covariances of the
// source anew, and takes EM steps until they end from where the best start has
// led. The projection is kept. At most rows target rows, and rows of each class
// of the source, take part; the weights of a sample vary less in proportion.
//
// Time grows with replicates, rows, C and the square of min(C−1, d).
func (m *MTE) Bootstrap(ctx context.Context, replicates, rows int, seed uint64) ([][]float64, error) {
	source := m.sourceSample(rows, seed)
	target := dense.Gather(m.target, sampleIndex(m.target.Rows, rows, seed))
	variance := float64(target.Rows) / float64(m.target.Rows)
	var proportions [][]float64
	for first := 0; first < replicates; first += replicateGroup {
		var runs []*em
		for b := first; b < min(first+replicateGroup, replicates); b++ {
			rng := rand.New(rand.NewPCG(seed, uint64(streamReplicates+b)))
			r, err := m.replicate(source, rng)
			if err != nil {
				return nil, err
			}
			r.weights = make([]float64, target.Rows)
			for i := range r.weights {
				r.weights[i] = exponential(rng, variance)
			}
			runs = append(runs, r)
		}
		if err := iterate(ctx, runs, target, m.options.Steps, replicateTolerance); err != nil {
			return nil, err
		}
		for _, r := range runs {
			proportions = append(proportions, r.proportions)
		}
	}
	return proportions, nil
}

// exponential returns a positive random number of mean 1 and the given variance,
// which is at most 1.
func exponential(rng *rand.Rand, variance float64) float64 {
	return 1 + math.Sqrt(variance)*(rng.ExpFloat64()-1)
}

// sourceSample is source rows of which each counts for several.
type sourceSample struct {
	x      blas32.General
	labels []int32
	counts []float64 // rows that one row of each class counts for
}

// sourceSample returns at most limit rows of each class.
func (m *MTE) sourceSample(limit int, seed uint64) sourceSample {
	classes := len(m.present.Class)
	rows := make([][]int, classes)
	for i, l := range m.present.Labels {
		rows[l] = append(rows[l], i)
	}
	s := sourceSample{counts: make([]float64, classes)}
	var index []int
	for k, all := range rows {
		sample := sampleIndex(len(all), limit, seed)
		s.counts[k] = float64(len(all)) / float64(len(sample))
		for _, i := range sample {
			index = append(index, all[i])
			s.labels = append(s.labels, int32(k))
		}
	}
	s.x = dense.Gather(m.source, index)
	return s
}

// replicate returns a run with class Gaussians of reweighted source rows that
// begins where the best run has ended.
func (m *MTE) replicate(s sourceSample, rng *rand.Rand) (*em, error) {
	weights := make([]float64, len(s.labels))
	for i, l := range s.labels {
		weights[i] = s.counts[l] * exponential(rng, 1/s.counts[l])
	}
	sums := classSums(s.x, s.labels, weights, len(s.counts))
	g := newGaussians(sums, monomials(s.x.Cols), m.options.Pooling)
	r, err := newEM(m.options.movement(), g, make([]float64, s.x.Cols))
	if err != nil {
		return nil, err
	}
	r.resume(m.runs[m.best])
	return r, nil
}
