package validate

import (
	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// share is that of the first of two rows in a mixture: its label is the mixture's.
const share = 0.55

// Mixed mixes each row of x (n×d), whose predictions are given, with the row that the
// permutation has in its place. It is the share of the mixtures for which predict gives the
// label of the first row: the mean of that among mixtures of equal labels and that among
// mixtures of others, or the one of them that there is.
func Mixed(x blas32.General, predictions []int32, permutation []int, predict func(x blas32.General) ([]int32, error)) (float64, error) {
	mixtures := dense.New(x.Rows, x.Cols)
	for i, j := range permutation {
		kernel.Axpy(share, dense.Row(x, i), dense.Row(mixtures, i))
		kernel.Axpy(1-share, dense.Row(x, j), dense.Row(mixtures, i))
	}
	found, err := predict(mixtures)
	if err != nil {
		return 0, err
	}
	var right, all [2]float64 // of other labels, of equal ones
	for i, j := range permutation {
		alike := 0
		if predictions[i] == predictions[j] {
			alike = 1
		}
		if all[alike]++; found[i] == predictions[i] {
			right[alike]++
		}
	}
	sum, kinds := 0.0, 0.0
	for k, n := range all {
		if n > 0 {
			sum += right[k] / n
			kinds++
		}
	}
	return sum / kinds, nil
}
