package labelshift

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"
)

// linear is a Classifier for tests: Gaussians with one covariance.
func linear(x blas32.General, labels []int32, _ []float32) (Posterior, error) {
	classes := 0
	for _, l := range labels {
		classes = max(classes, int(l)+1)
	}
	g := newGaussians(classSums(x, labels, nil, classes), monomials(x.Cols), 1)
	precision, _, err := invert(g.pooled)
	if err != nil {
		return nil, err
	}
	weights, bias := newRows(classes, x.Cols), make([]float64, classes)
	for k := range classes {
		var v mat.VecDense
		mean := g.means.RowView(k)
		v.MulVec(precision, mean)
		bias[k] = math.Log(g.prior[k]) - mat.Dot(&v, mean)/2
		for j := range x.Cols {
			weights.Data[k*x.Cols+j] = float32(v.AtVec(j))
		}
	}
	return func(x blas32.General) (blas32.General, error) {
		logits := make([]float64, 0, x.Rows*classes)
		for i := range x.Rows {
			for k, b := range bias {
				for j, w := range row(weights, k) {
					b += float64(w) * float64(row(x, i)[j])
				}
				logits = append(logits, b)
			}
		}
		softmax(logits, classes)
		p := newRows(x.Rows, classes)
		for i, v := range logits {
			p.Data[i] = float32(v)
		}
		return p, nil
	}, nil
}
