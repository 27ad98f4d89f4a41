package labelshift

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/classes"
	"mars.dev/mars/stages/algorithms/internal/dense"
)

// folds is how many classifiers CrossFit trains at most.
const folds = 5

// CrossFit trains a classifier on all but a fifth of the source rows (n_S×d), for each
// fifth in turn, and returns the posteriors that each gives the rows that it was not
// trained on (n_S×C), and the mean of those that all give the target's rows (n_T×C). Of
// each class every fold has the same share. It fails if a class has fewer than two rows.
func CrossFit(ctx context.Context, source blas32.General, labels []int32, c int, target blas32.General, train Classifier) (s, t blas32.General, err error) {
	counts, err := classes.Count(labels, c)
	if err != nil {
		return s, t, fmt.Errorf("labelshift: %w", err)
	}
	least := slices.Min(counts)
	if least < 2 {
		return s, t, fmt.Errorf("labelshift: class %d has %d source row: give two of each class at least, so that a classifier can be trained without one", slices.Index(counts, least), least)
	}
	k := min(folds, least)
	fold, seen := make([]int, len(labels)), make([]int, c)
	for i, y := range labels {
		fold[i] = seen[y] % k
		seen[y]++
	}
	s, t = dense.New(source.Rows, c), dense.New(target.Rows, c)
	for f := range k {
		if err := crossFitFold(ctx, source, labels, target, train, func(i int) bool { return fold[i] == f }, s, t); err != nil {
			return s, t, err
		}
	}
	for i := range t.Data {
		t.Data[i] /= float32(k)
	}
	return s, t, nil
}

// crossFitFold trains on the rows that are not held out, writes the posteriors of the
// others to s and adds those of the target to t.
func crossFitFold(ctx context.Context, source blas32.General, labels []int32, target blas32.General, train Classifier, held func(i int) bool, s, t blas32.General) error {
	var inside, outside []int
	var of []int32
	for i, y := range labels {
		if held(i) {
			outside = append(outside, i)
		} else {
			inside, of = append(inside, i), append(of, y)
		}
	}
	posterior, err := train(ctx, dense.Gather(source, inside), of)
	if err != nil {
		return fmt.Errorf("labelshift: training a classifier: %w", err)
	}
	p, err := posterior(dense.Gather(source, outside))
	if err != nil {
		return fmt.Errorf("labelshift: classifying the source: %w", err)
	}
	for j, i := range outside {
		copy(dense.Row(s, i), dense.Row(p, j))
	}
	if p, err = posterior(target); err != nil {
		return fmt.Errorf("labelshift: classifying the target: %w", err)
	}
	for i := range t.Rows {
		sum := dense.Row(t, i)
		for j, v := range dense.Row(p, i) {
			sum[j] += v
		}
	}
	return nil
}
