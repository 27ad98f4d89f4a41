package mixture

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// shortlists holds for each cluster, by its name (a row), the clusters that
// were nearest when it was last compared with all. They are usually enough to
// find the nearest cluster.
//
// A cluster that is not listed had a squared height of at least reach, and by
// reducibility so has every union that contains it. So take the clusters that
// now contain the listed ones: if the nearest of them has a squared height
// below reach, it is the nearest of all.
type shortlists struct {
	length int
	rows   []int32   // n×length: names of clusters
	reach  []float64 // n: in units of the scaled means; 0 means no list
}

// shortlistLength is how many clusters are listed. With 32, the lists are
// enough in nine of ten searches for single rows in 100 dimensions.
const shortlistLength = 32

// Pairs are compared block×tile at a time.
const block, tile = 128, 1024

// newShortlists compares all pairs of rows of scan (n×d, in the unit ball) by
// matrix products. It returns ctx.Err() if ctx ends.
func newShortlists(ctx context.Context, scan []float32, n, d int) (*shortlists, error) {
	s := &shortlists{length: min(shortlistLength, n-1), reach: make([]float64, n)}
	s.rows = make([]int32, n*s.length)
	norms := make([]float32, n)
	for i := range norms {
		norms[i] = kernel.Dot(scan[i*d:(i+1)*d], scan[i*d:(i+1)*d])
	}
	kernel.Parallel((n+block-1)/block, 1, func(lo, hi int) {
		products := make([]float32, block*tile)
		for b := lo; b < hi; b++ {
			s.fill(ctx, products, scan, norms, d, b*block, min((b+1)*block, n))
		}
	})
	return s, ctx.Err()
}

// of returns the list of the cluster named by row.
func (s *shortlists) of(row int) []int32 { return s.rows[row*s.length : (row+1)*s.length] }

// fill makes the lists of rows [lo, hi), at most block of them, unless ctx
// ends. products is scratch space of block×tile values.
func (s *shortlists) fill(ctx context.Context, products, scan, norms []float32, d, lo, hi int) {
	n := len(norms)
	lists := make([]shortlist[float32], hi-lo)
	for i := range lists {
		lists[i] = newShortlist[float32](s.of(lo+i), lo+i)
	}
	for from := 0; from < n && ctx.Err() == nil; from += tile {
		to := min(from+tile, n)
		kernel.Gemm(false, true, -2, matrix32(scan[lo*d:hi*d], d), matrix32(scan[from*d:to*d], d), 0, matrix32(products[:(hi-lo)*(to-from)], to-from))
		for i := range lists {
			lists[i].offerAll(products[i*(to-from):(i+1)*(to-from)], norms[from:to], from, lo+i)
		}
	}
	for i := range lists {
		s.reach[lo+i] = float64(norms[lo+i]) + float64(lists[i].limit) - productError(d)
	}
}

// matrix32 returns data as a matrix of cols columns.
func matrix32(data []float32, cols int) blas32.General {
	return blas32.General{Rows: len(data) / cols, Cols: cols, Stride: cols, Data: data}
}

// productError bounds the error of a squared distance in the unit ball that is
// computed as two squared norms minus twice a product. These are d+2 terms of
// at most 4 in all, each with a relative error of u = 2⁻²⁴, of rows that
// rounding has moved by at most 3u.
func productError(d int) float64 {
	const u = 0x1p-24
	return 4 * float64(d+10) * u
}

// shortlist keeps the names with the least values in a heap, the greatest of
// them first.
type shortlist[T float32 | float64] struct {
	rows   []int32
	values []T
	limit  T // the greatest value; +Inf while there are free places
}

// newShortlist returns an empty list in the memory of rows. A free place holds
// the name of the cluster itself.
func newShortlist[T float32 | float64](rows []int32, itself int) shortlist[T] {
	list := shortlist[T]{rows: rows, values: make([]T, len(rows)), limit: T(math.Inf(1))}
	for i := range list.values {
		list.rows[i], list.values[i] = int32(itself), list.limit
	}
	return list
}

// add replaces the row of greatest value. The list must have a place.
func (l *shortlist[T]) add(row int, value T) {
	at := 0
	for child := 1; child < len(l.values); child = 2*at + 1 {
		if child+1 < len(l.values) && l.values[child+1] > l.values[child] {
			child++
		}
		if l.values[child] <= value {
			break
		}
		l.rows[at], l.values[at] = l.rows[child], l.values[child]
		at = child
	}
	l.rows[at], l.values[at] = int32(row), value
	l.limit = l.values[0]
}

// offerAll offers the rows from, from+1, … except itself. The value of a row
// is its product plus its norm.
func (l *shortlist[T]) offerAll(products, norms []T, from, itself int) {
	for j, p := range products {
		if value := p + norms[j]; value < l.limit && from+j != itself {
			l.add(from+j, value)
		}
	}
}
