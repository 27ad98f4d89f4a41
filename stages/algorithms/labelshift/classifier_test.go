package labelshift

import (
	"context"
	"errors"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// linear is a Classifier for tests: Gaussians with one covariance.
func linear(_ context.Context, x blas32.General, labels []int32) (Posterior, error) {
	classes := 0
	for _, l := range labels {
		classes = max(classes, int(l)+1)
	}
	means, counts := mat.NewDense(classes, x.Cols, nil), make([]float64, classes)
	for i, l := range labels {
		counts[l]++
		for j, v := range dense.Row(x, i) {
			means.Set(int(l), j, means.At(int(l), j)+float64(v))
		}
	}
	means.Apply(func(k, _ int, v float64) float64 { return v / counts[k] }, means)
	residuals := mat.NewDense(x.Rows, x.Cols, nil)
	residuals.Apply(func(i, j int, _ float64) float64 {
		return float64(dense.Row(x, i)[j]) - means.At(int(labels[i]), j)
	}, residuals)
	covariance := mat.NewSymDense(x.Cols, nil)
	covariance.SymOuterK(1/float64(x.Rows-classes), residuals.T())
	for j := range x.Cols {
		covariance.SetSym(j, j, covariance.At(j, j)+1e-6)
	}
	var cholesky mat.Cholesky
	if !cholesky.Factorize(covariance) {
		return nil, errors.New("the covariance has no inverse")
	}
	var weights mat.Dense // d×C
	if err := cholesky.SolveTo(&weights, means.T()); err != nil {
		return nil, err
	}
	return func(x blas32.General) (blas32.General, error) {
		logits := make([]float64, 0, x.Rows*classes)
		for i := range x.Rows {
			for k := range classes {
				z := math.Log(counts[k]) - mat.Dot(weights.ColView(k), means.RowView(k))/2
				for j, v := range dense.Row(x, i) {
					z += weights.At(j, k) * float64(v)
				}
				logits = append(logits, z)
			}
		}
		kernel.Softmax64(logits, classes)
		p := dense.New(x.Rows, classes)
		for i, v := range logits {
			p.Data[i] = float32(v)
		}
		return p, nil
	}, nil
}
