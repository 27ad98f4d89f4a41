package labelshift

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"
)

// BBSEOptions are the options of BBSE.
type BBSEOptions struct {
	// Soft adds up posteriors where BBSE else counts the greatest ones.
	Soft bool
}

// BBSE is black box shift estimation (Lipton, Wang & Smola 2018): with
// M[i][k] the share of source rows of class k that a classifier says are i, and
// μ[i] the share of target rows, it solves M·p = μ for p on the simplex by
// least squares. Without label noise and with p(x|y) the same in both domains
// that is p_T.
//
// source (n_S×C) holds posteriors of source rows that the classifier was not
// trained on, labels their classes, and target (n_T×C) those of target rows.
// A class without source rows has the proportion 0 and a warning. It fails if a
// row is not a distribution or fewer than two classes have rows, and panics if
// shapes differ.
func BBSE(source blas32.General, labels []int32, target blas32.General, o BBSEOptions) (*Result, error) {
	c, err := newConfusion(source, labels, target, o.Soft)
	if err != nil {
		return nil, err
	}
	p, err := SimplexLeastSquares(c.conditional(), c.target, nil)
	if err != nil {
		return nil, err
	}
	e := &Result{Estimator: "bbse", Proportions: c.present.All(p), Converged: true, Warnings: c.present.Warnings()}
	if number := mat.Cond(c.conditional(), 2); !(number < maxCondition) {
		e.Warnings = append(e.Warnings, fmt.Sprintf("the classifier's confusion matrix has the condition number %.3g: the classifier does not tell all classes apart", number))
	}
	return e, nil
}

// maxCondition is the condition number of a confusion matrix above which its
// inverse enlarges the sampling error of a thousand rows to that of ten.
const maxCondition = 100

// conditional returns M: each class' column sums to 1.
func (c *confusion) conditional() *mat.Dense {
	m := mat.DenseCopyOf(c.joint)
	m.Apply(func(_, k int, v float64) float64 { return v / c.present.Prior[k] }, m)
	return m
}
