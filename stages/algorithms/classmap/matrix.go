package classmap

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// blockRows is how many rows are converted to float64 at a time, and how many
// are worked on between two checks of the context.
const blockRows = 256

// minEigenvalue replaces eigenvalues that rounding has made smaller.
const minEigenvalue = 1e-9

// power returns a symmetric matrix raised to a power.
func power(a *mat.SymDense, exponent float64) (*mat.Dense, error) {
	var eigen mat.EigenSym
	if !eigen.Factorize(a, true) {
		return nil, errors.New("classmap: the covariance within the classes has no eigenvalues: scale the features down")
	}
	var vectors, scaled, result mat.Dense
	eigen.VectorsTo(&vectors)
	values := eigen.Values(nil)
	scaled.Apply(func(_, j int, v float64) float64 { return v * math.Pow(max(values[j], minEigenvalue), exponent) }, &vectors)
	result.Mul(&scaled, vectors.T())
	return &result, nil
}

// subtract sets dst to x − y.
func subtract(dst []float64, x []float32, y []float64) {
	for j, v := range x {
		dst[j] = float64(v) - y[j]
	}
}

// checkFinite checks the block of rows of x that starts at row lo. whose names the
// rows, and first is the number of the first row of x.
func checkFinite(whose string, x blas32.General, lo, first int) error {
	if err := dense.CheckFinite(whose, dense.Rows(x, lo, min(lo+blockRows, x.Rows)), first+lo); err != nil {
		return fmt.Errorf("classmap: %w", err)
	}
	return nil
}
