package labelshift

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// EMOptions are the options of EM. The zero value is usable.
type EMOptions struct {
	// Iterations bounds the steps; 0 means 10,000.
	Iterations int
	// Tolerance ends them when the proportions change by less, in L1;
	// 0 means 1e-8.
	Tolerance float64
	// Weights count rows (n_T) in the proportions; nil counts each once.
	Weights []float64
	// Accelerate extrapolates the steps (SQUAREM, see squarem): the same proportions, to
	// within the tolerance, in far fewer steps where classes overlap.
	Accelerate bool
}

// EM is maximum likelihood under label shift (Saerens, Latinne & Decaestecker
// 2002): posteriors of the target (n_T×C) that carry the source's proportions
// (C) are multiplied by p_T/p_S and normalised, and p_T becomes their mean, until
// it stays. The posteriors should be calibrated, see Calibrate. A class of which
// the source has nothing has the proportion 0 and a warning.
//
// It fails if a row is not a distribution or has no mass on the source's
// classes, and panics if shapes differ.
func EM(target blas32.General, source []float64, o EMOptions) (*Result, error) {
	rows, err := NewEMRows(target)
	if err != nil {
		return nil, err
	}
	e, err := rows.EM(context.Background(), source, o)
	if err == nil {
		e.Responsibilities = reweighted(target, ratios(e.Proportions, source))
	}
	return e, err
}

// EM is EM of the rows, but for the responsibilities: it fails as EM does, and with ctx.Err() if
// ctx ends.
func (r *EMRows) EM(ctx context.Context, source []float64, o EMOptions) (*Result, error) {
	if o.Weights != nil && len(o.Weights) != r.x.Rows {
		panic("labelshift: EM: one weight a row is needed")
	}
	o.Iterations = cmp.Or(o.Iterations, 10_000)
	o.Tolerance = cmp.Or(o.Tolerance, 1e-8)
	if err := checkProportions("source", source, r.x.Cols); err != nil {
		return nil, err
	}
	e := &Result{Estimator: "em", Proportions: append([]float64(nil), source...)}
	for k, p := range source {
		if p == 0 {
			e.Warnings = append(e.Warnings, fmt.Sprintf("class %d has no share of the source: its share of the target can not be estimated and is given as 0", k))
		}
	}
	sums := newPosteriorSums(r, o.Weights)
	step := func(p []float64) ([]float64, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		e.Iterations++
		return sums.mean(ratios(p, source))
	}
	for e.Iterations < o.Iterations && !e.Converged {
		next, err := step(e.Proportions)
		if err != nil {
			return nil, err
		}
		if e.Converged = dense.L1(e.Proportions, next) < o.Tolerance; o.Accelerate && !e.Converged {
			if next, err = squarem(e.Proportions, next, step); err != nil {
				return nil, err
			}
		}
		e.Proportions = next
	}
	if !e.Converged {
		e.Warnings = append(e.Warnings, fmt.Sprintf("EM has not converged in %d steps", e.Iterations))
	}
	return e, nil
}

// ratios returns target/source, 0 where the source is 0.
func ratios(target, source []float64) []float64 {
	r := make([]float64, len(source))
	for k, p := range source {
		if p > 0 {
			r[k] = target[k] / p
		}
	}
	return r
}

// maxParts is how many parts the target's rows are divided into at most.
const maxParts = 16

// posteriorSums adds up reweighted posteriors, in parts that do not depend on
// the number of threads.
type posteriorSums struct {
	*EMRows
	weights []float64 // of rows; nil is 1
	total   float64   // of the weights
	parts   [][]float64
}

// partRows is how many rows one part has at least.
const partRows = 1024

func newPosteriorSums(r *EMRows, weights []float64) *posteriorSums {
	x := r.x
	s := &posteriorSums{EMRows: r, weights: weights, total: float64(x.Rows), parts: make([][]float64, max(1, min(maxParts, x.Rows/partRows)))}
	for i := range s.parts {
		s.parts[i] = make([]float64, x.Cols)
	}
	if weights != nil {
		s.total = dense.Sum(weights)
	}
	return s
}

var errNoMass = errors.New("labelshift: a target row has posteriors of 0 for all classes of the source: raise its posteriors above 0 or leave it out")

// mean returns the mean of the rows times ratios, each normalised.
func (s *posteriorSums) mean(ratios []float64) ([]float64, error) {
	n := len(s.parts)
	kernel.Parallel(n, 1, func(first, last int) {
		for p := first; p < last; p++ {
			clear(s.parts[p])
			lo, hi := p*s.x.Rows/n, (p+1)*s.x.Rows/n
			var weights []float64
			if s.weights != nil {
				weights = s.weights[lo:hi]
			}
			s.add(s.parts[p], lo, hi, weights, ratios)
		}
	})
	mean := make([]float64, s.x.Cols)
	for _, p := range s.parts {
		for k, v := range p {
			mean[k] += v / s.total
		}
	}
	if !dense.Finite(mean) {
		return nil, errNoMass
	}
	return mean, nil
}

// addPosteriors adds to sums each row times ratios, normalised, times its weight.
func addPosteriors(sums []float64, x blas32.General, weights, ratios []float64) {
	if len(sums) <= few {
		addFewPosteriors(sums, x, weights, ratios)
		return
	}
	products := make([]float64, len(sums))
	for i := range x.Rows {
		total := 0.0
		for k, v := range dense.Row(x, i) {
			products[k] = float64(v) * ratios[k]
			total += products[k]
		}
		inverse := 1 / total
		if weights != nil {
			inverse *= weights[i]
		}
		for k, v := range products {
			sums[k] += v * inverse
		}
	}
}

func vector(v []float64) blas64.Vector { return blas64.Vector{N: len(v), Data: v, Inc: 1} }

// few classes are so many that all that is added up fits in registers.
const few = 4

// addFewPosteriors is addPosteriors for 2 to few classes: the same numbers, twice as fast.
func addFewPosteriors(sums []float64, x blas32.General, weights, ratios []float64) {
	var r, s [few]float64
	n := copy(r[:], ratios)
	copy(s[:], sums)
	r0, r1, r2, r3 := r[0], r[1], r[2], r[3]
	s0, s1, s2, s3 := s[0], s[1], s[2], s[3]
	for i := range x.Rows {
		row := x.Data[i*x.Stride:][:n]
		p0, p1, p2, p3 := float64(row[0])*r0, float64(row[1])*r1, 0.0, 0.0
		if len(row) > 2 {
			p2 = float64(row[2]) * r2
		}
		if len(row) > 3 {
			p3 = float64(row[3]) * r3
		}
		inverse := 1 / (p0 + p1 + p2 + p3)
		if weights != nil {
			inverse *= weights[i]
		}
		s0 += p0 * inverse
		s1 += p1 * inverse
		s2 += p2 * inverse
		s3 += p3 * inverse
	}
	s = [few]float64{s0, s1, s2, s3}
	copy(sums, s[:n])
}

// reweighted returns each row of x times ratios, normalised.
func reweighted(x blas32.General, ratios []float64) blas32.General {
	out := dense.New(x.Rows, x.Cols)
	products := make([]float64, x.Cols)
	for i := range x.Rows {
		total := 0.0
		for k, v := range dense.Row(x, i) {
			products[k] = float64(v) * ratios[k]
			total += products[k]
		}
		inverse := 1 / total
		for k, v := range products {
			out.Data[i*x.Cols+k] = float32(v * inverse)
		}
	}
	return out
}
