// Package kernelridge is kernel ridge regression of the one-hot classes with a
// Gaussian kernel, k(x, z) = exp(−γ·|x − z|²). It is scikit-learn's KernelRidge;
// many rows are approximated by landmarks (Nyström's method, Williams & Seeger
// 2001), and hyper-parameters are chosen by their leave-one-out error.
package kernelridge

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// Hyper are the hyper-parameters.
type Hyper struct {
	Gamma  float64 // of the kernel, in inverse squared units of the rows
	Lambda float64 // what is added to the diagonal of the kernel matrix
}

// Options of a fit. The zero value is usable.
type Options struct {
	// Landmarks is the number of rows above which as many stand for all; 0 means
	// 1,000.
	Landmarks int
	// Weights weight rows in the squared error; nil weights them alike.
	Weights []float64
	// Seed draws landmarks.
	Seed uint64
}

// A Model gives the scores f(x) = mean + Σ_l k(x, landmark_l)·a_l, which are about 1 for
// the class of x and 0 for the others. Its methods do not change it.
type Model struct {
	Landmarks    blas32.General // m×d
	Coefficients blas32.General // m×C
	Mean         []float32      // C
	Gamma        float64
}

const (
	defaultLandmarks = 1_000
	// jitter, relative to the mean of the diagonal, lets the kernel matrix of
	// landmarks that are alike be factored.
	jitter = 1e-6
)

// Fit trains on the rows of x (n×d) with labels from 0 to classes−1, of which any
// may have no rows. With all rows as landmarks the coefficients solve
// (K + λ·W⁻¹)·a = Y − mean; with m of them, (Kᵀ W K + λ·K_mm)·a = Kᵀ W (Y − mean)
// for K n×m. It fails if there are no rows or a value is not finite, and panics if
// there is not one label a row. The end of ctx ends it.
func Fit(ctx context.Context, x blas32.General, labels []int32, classes int, h Hyper, o Options) (*Model, error) {
	if err := check(x, labels); err != nil {
		return nil, err
	}
	if o.Weights != nil && len(o.Weights) != x.Rows {
		panic("kernelridge: one weight a row is needed")
	}
	limit := o.Landmarks
	if limit == 0 {
		limit = defaultLandmarks
	}
	weights := o.Weights
	if weights == nil {
		weights = slices.Repeat([]float64{1}, x.Rows)
	}
	y, mean := targets(labels, classes, weights)
	index := landmarks(labels, limit, o.Seed)
	m := &Model{Landmarks: dense.Gather(x, index), Gamma: h.Gamma, Mean: mean}
	e := exactEquations
	if len(index) < x.Rows {
		e = landmarkEquations
	}
	a, err := e(ctx, x, m.Landmarks, y, weights, h).solve(ctx, h.Lambda)
	if err != nil {
		return nil, err
	}
	m.Coefficients = narrow(a)
	return m, nil
}

// check reports rows that nothing can be learnt from.
func check(x blas32.General, labels []int32) error {
	if len(labels) != x.Rows {
		panic("kernelridge: one label a row is needed")
	}
	if x.Rows == 0 || x.Cols == 0 {
		return errors.New("kernelridge: there are no rows or no columns: give labelled rows")
	}
	if err := dense.CheckFinite("source", x, 0); err != nil {
		return fmt.Errorf("kernelridge: %w", err)
	}
	return nil
}

func singular(lambda float64) error {
	return fmt.Errorf("kernelridge: the kernel matrix is singular: raise lambda above %g", lambda)
}

// landmarks are all rows, or a random sample in which each class has its share.
func landmarks(labels []int32, limit int, seed uint64) []int {
	n := len(labels)
	index := make([]int, n)
	for i := range index {
		index[i] = i
	}
	if n <= limit {
		return index
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	rng.Shuffle(n, func(i, j int) { index[i], index[j] = index[j], index[i] })
	slices.SortStableFunc(index, func(i, j int) int { return int(labels[i] - labels[j]) })
	kept := make([]int, 0, limit)
	for i := range limit { // evenly through the rows by class
		kept = append(kept, index[i*n/limit])
	}
	slices.Sort(kept)
	return kept
}

// targets are the one-hot classes less their weighted mean, n×C.
func targets(labels []int32, classes int, weights []float64) (y blas64.General, mean []float32) {
	y = dense.New64(len(labels), classes)
	sums, total := make([]float64, classes), 0.0
	for i, l := range labels {
		sums[l] += weights[i]
		total += weights[i]
	}
	mean = make([]float32, classes)
	for k, s := range sums {
		mean[k] = float32(s / total)
	}
	for i, l := range labels {
		row := y.Data[i*classes:][:classes]
		for k, s := range sums {
			row[k] = -s / total
		}
		row[l]++
	}
	return y, mean
}
