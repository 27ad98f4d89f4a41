package labelshift

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/classes"
	"mars.dev/mars/stages/algorithms/internal/dense"
)

// checkPosteriors refuses rows that are not distributions over at least two
// classes.
func checkPosteriors(whose string, x blas32.General) error {
	if x.Rows == 0 || x.Cols < 2 {
		return fmt.Errorf("labelshift: %d %s posteriors of %d classes: give at least one row of at least two classes", x.Rows, whose, x.Cols)
	}
	for i := range x.Rows {
		sum := 0.0
		for k, v := range dense.Row(x, i) {
			if !(v >= 0) {
				return fmt.Errorf("labelshift: %s row %d, class %d has the posterior %v: give numbers from 0 to 1", whose, i, k, v)
			}
			sum += float64(v)
		}
		if !(sum > 1-posteriorTolerance && sum < 1+posteriorTolerance) {
			return fmt.Errorf("labelshift: the posteriors of %s row %d sum to %v: make them sum to 1", whose, i, sum)
		}
	}
	return nil
}

// posteriorTolerance is how far from 1 the sum of posteriors may be: float16's
// rounding over many classes.
const posteriorTolerance = 1e-2

// confusion counts what a classifier says of source rows of each class.
type confusion struct {
	present *classes.Present
	joint   *mat.Dense // C×(present): share of source rows that are said i and are k
	target  []float64  // C: share of target rows that are said i
}

// newConfusion counts predictions, or adds up posteriors if soft is set.
func newConfusion(source blas32.General, labels []int32, target blas32.General, soft bool) (*confusion, error) {
	if source.Rows != len(labels) || source.Cols != target.Cols {
		panic("labelshift: posteriors and labels do not fit")
	}
	if err := checkPosteriors("source", source); err != nil {
		return nil, err
	}
	if err := checkPosteriors("target", target); err != nil {
		return nil, err
	}
	p, err := classes.NewPresent(labels, source.Cols)
	if err != nil {
		return nil, fmt.Errorf("labelshift: %w", err)
	}
	c := &confusion{present: p, joint: mat.NewDense(source.Cols, len(p.Class), nil), target: make([]float64, source.Cols)}
	vote := argmaxVote
	if soft {
		vote = softVote
	}
	for i := range source.Rows {
		k := int(p.Labels[i])
		vote(dense.Row(source, i), func(said int, share float64) {
			c.joint.Set(said, k, c.joint.At(said, k)+share/float64(source.Rows))
		})
	}
	for i := range target.Rows {
		vote(dense.Row(target, i), func(said int, share float64) { c.target[said] += share / float64(target.Rows) })
	}
	return c, nil
}

// softVote gives each class its posterior, argmaxVote all to the greatest.
func softVote(p []float32, add func(class int, share float64)) {
	for k, v := range p {
		add(k, float64(v))
	}
}

func argmaxVote(p []float32, add func(class int, share float64)) { add(dense.Argmax(p), 1) }
