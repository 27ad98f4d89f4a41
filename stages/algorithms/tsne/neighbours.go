package tsne

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// neighbour is a row and how near it is.
type neighbour struct {
	row   int32
	value float64 // the squared distance, and later the similarity
}

// Pairs are compared block×tile at a time. The sizes are fixed, so that rounding does not
// depend on the number of threads.
const block, tile = 128, 1024

// spare is how many more candidates are kept by rounded distances than neighbours are
// asked for.
const spare = 8

// neighbours calls use, side by side, with each row and its k nearest other rows, the
// nearest first, and of equally near ones the first. All pairs are compared by matrix
// products: with the project's kernels that is faster than a tree from some ten
// dimensions on. Candidates are chosen by distances in float32, and ranked by float64.
// The slice that use gets is its own only until it returns.
func neighbours(ctx context.Context, z blas32.General, k int, use func(i int, near []neighbour)) error {
	n := z.Rows
	norms := make([]float32, n)
	for i := range norms {
		norms[i] = kernel.Dot(dense.Row(z, i), dense.Row(z, i))
	}
	keep := min(k+spare, n-1)
	return kernel.Each((n+block-1)/block, func(b int) error {
		lo, hi := b*block, min((b+1)*block, n)
		heaps := make([]candidates, hi-lo)
		for i := range heaps {
			heaps[i] = candidates{rows: make([]int32, 0, keep), values: make([]float32, 0, keep), limit: float32(math.Inf(1))}
		}
		products := make([]float32, block*tile)
		for from := 0; from < n; from += tile {
			if err := ctx.Err(); err != nil {
				return err
			}
			to := min(from+tile, n)
			p := blas32.General{Rows: hi - lo, Cols: to - from, Stride: to - from, Data: products[:(hi-lo)*(to-from)]}
			kernel.Gemm(false, true, -2, dense.Rows(z, lo, hi), dense.Rows(z, from, to), 0, p)
			for i := range heaps {
				heaps[i].offer(dense.Row(p, i), norms[from:to], from, lo+i)
			}
		}
		near := make([]neighbour, 0, keep)
		for i := range heaps {
			near = exact(near[:0], z, lo+i, heaps[i].rows)
			use(lo+i, near[:k])
		}
		return nil
	})
}

// exact appends the rows with their distances from row i in float64, the nearest first.
func exact(near []neighbour, z blas32.General, i int, rows []int32) []neighbour {
	a := dense.Row(z, i)
	for _, r := range rows {
		sum := 0.0
		for j, v := range dense.Row(z, int(r)) {
			d := float64(v) - float64(a[j])
			sum += d * d
		}
		near = append(near, neighbour{r, sum})
	}
	slices.SortFunc(near, func(a, b neighbour) int {
		return cmp.Or(cmp.Compare(a.value, b.value), cmp.Compare(a.row, b.row))
	})
	return near
}

// candidates keeps the rows with the least values in a heap of fixed capacity, the
// greatest of them first.
type candidates struct {
	rows   []int32
	values []float32
	limit  float32 // the greatest value; +Inf while there are free places
}

// offer offers the rows from `from` on, whose values are product + norm, but for the row
// itself.
func (c *candidates) offer(products, norms []float32, from, itself int) {
	norms = norms[:len(products)]
	for j, p := range products {
		if v := p + norms[j]; v < c.limit && from+j != itself {
			c.add(int32(from+j), v)
		}
	}
}

func (c *candidates) add(row int32, value float32) {
	if len(c.rows) < cap(c.rows) {
		c.rows, c.values = append(c.rows, row), append(c.values, value)
		for at := len(c.rows) - 1; at > 0; {
			parent := (at - 1) / 2
			if c.values[parent] >= value {
				break
			}
			c.swap(at, parent)
			at = parent
		}
	} else {
		c.rows[0], c.values[0] = row, value
		for at := 0; ; {
			child := 2*at + 1
			if child+1 < len(c.values) && c.values[child+1] > c.values[child] {
				child++
			}
			if child >= len(c.values) || c.values[child] <= value {
				break
			}
			c.swap(at, child)
			at = child
		}
	}
	if len(c.rows) == cap(c.rows) {
		c.limit = c.values[0]
	}
}

func (c *candidates) swap(i, j int) {
	c.rows[i], c.rows[j] = c.rows[j], c.rows[i]
	c.values[i], c.values[j] = c.values[j], c.values[i]
}
