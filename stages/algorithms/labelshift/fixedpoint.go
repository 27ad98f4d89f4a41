package labelshift

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

const (
	// FixedTolerance is what a step to a fixed point, in L1, is below. Its square is about
	// how far the point is from that of endless steps.
	FixedTolerance = 1e-6
	// fixedPasses bounds the steps.
	fixedPasses = 60
	// fixedRows is how many rows' densities are held at once.
	fixedRows = 512
	// newtonClasses are so many that Newton's steps, which take time with their square and cube,
	// give way to EM's, of which emPasses are taken.
	newtonClasses = 256
	emPasses      = 300
)

// emFixedPoint is FixedPoint for many classes.
func emFixedPoint(ctx context.Context, posteriors blas32.General, source []float64) ([]float64, error) {
	rows, err := NewEMRows(posteriors)
	if err != nil {
		return nil, err
	}
	e, err := rows.EM(ctx, source, EMOptions{Iterations: rows.Steps(emPasses), Tolerance: FixedTolerance, Accelerate: true})
	if err != nil {
		return nil, err
	}
	return e.Proportions, nil
}

// FixedPoint returns the proportions at which EM stays on posteriors (n×C) that carry the
// source's: what EMSums lead to, for rows that are all at hand. It returns ctx.Err() if ctx ends.
func FixedPoint(ctx context.Context, posteriors blas32.General, source []float64) ([]float64, error) {
	n, classes := posteriors.Rows, posteriors.Cols
	if classes > newtonClasses {
		return emFixedPoint(ctx, posteriors, source)
	}
	p := slices.Clone(source)
	block := dense.New64(fixedRows, classes)
	for range fixedPasses {
		first, second := make([]float64, classes), mat.NewDense(classes, classes, nil)
		for lo := 0; lo < n; lo += fixedRows {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			block.Rows = min(fixedRows, n-lo)
			for i := range block.Rows {
				g := block.Data[i*classes : (i+1)*classes]
				if err := densities(g, dense.Row(posteriors, lo+i), lo+i, source, p); err != nil {
					return nil, err
				}
				for k, v := range g {
					first[k] += v / float64(n)
				}
			}
			kernel.Gemm64(true, false, 1/float64(n), block, block, 1, blas64.General(second.RawMatrix()))
		}
		next, err := newton(first, second, p)
		if err != nil {
			return nil, err
		}
		step := dense.L1(p, next)
		if p = next; step < FixedTolerance {
			break
		}
	}
	return p, nil
}
