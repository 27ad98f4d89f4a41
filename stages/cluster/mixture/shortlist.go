package mixture

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"mars/stages/internal/kernel"
)

// shortlists holds for each of n rows its nearest other rows, with which most
// questions for the nearest cluster of a single row can be answered without
// looking at all clusters.
//
// A cluster without a row of the list is made of rows whose squared height
// with the single row is at least reach, and by reducibility its own is no
// less. So the nearest among the clusters of the listed rows is the nearest of
// all if its squared height is below reach.
type shortlists struct {
	length int
	rows   []int32   // n×length
	reach  []float64 // n
}

// shortlistLength is how many rows are listed. With 32, lists answer nine in
// ten questions in 100 dimensions.
const shortlistLength = 32

// newShortlists compares all pairs of rows of scan (n×d, in the unit ball) by
// matrix products. Reach is in units of scan.
func newShortlists(scan []float32, n, d int) *shortlists {
	const block = 128 // queries at a time
	s := &shortlists{length: min(shortlistLength, n-1), reach: make([]float64, n)}
	s.rows = make([]int32, n*s.length)
	norms := make([]float32, n)
	for i := range norms {
		norms[i] = kernel.Dot(scan[i*d:(i+1)*d], scan[i*d:(i+1)*d])
	}
	kernel.Parallel((n+block-1)/block, 1, func(lo, hi int) {
		for b := lo; b < hi; b++ {
			s.fill(scan, norms, d, b*block, min((b+1)*block, n))
		}
	})
	return s
}

// fill makes the lists of rows [lo, hi).
func (s *shortlists) fill(scan, norms []float32, d, lo, hi int) {
	const tile = 1024 // rows compared with at a time
	n := len(norms)
	lists := make([]shortlist, hi-lo)
	for i := range lists {
		lists[i] = newShortlist(s.rows[(lo+i)*s.length : (lo+i+1)*s.length])
	}
	products := make([]float32, (hi-lo)*tile)
	for from := 0; from < n; from += tile {
		to := min(from+tile, n)
		kernel.Gemm(false, true, -2, matrix32(scan[lo*d:hi*d], d), matrix32(scan[from*d:to*d], d), 0, matrix32(products[:(hi-lo)*(to-from)], to-from))
		for i := range lists {
			lists[i].offer(products[i*(to-from):(i+1)*(to-from)], norms[from:to], from, lo+i)
		}
	}
	for i, list := range lists {
		s.reach[lo+i] = list.reach(float64(norms[lo+i]), d, n)
	}
}

// matrix32 returns the matrix of cols columns that data holds.
func matrix32(data []float32, cols int) blas32.General {
	return blas32.General{Rows: len(data) / cols, Cols: cols, Stride: cols, Data: data}
}

// shortlist keeps the rows of least value.
type shortlist struct {
	rows   []int32
	values []float32
	worst  int // place of the greatest value
}

func newShortlist(rows []int32) shortlist {
	list := shortlist{rows: rows, values: make([]float32, len(rows))}
	for i := range list.values {
		list.values[i] = float32(math.Inf(1))
	}
	return list
}

// offer lists those of the rows from, from+1, … (without itself) whose value,
// product plus norm, is less than the greatest one listed.
func (l *shortlist) offer(products, norms []float32, from, itself int) {
	if len(l.rows) == 0 {
		return
	}
	limit := l.values[l.worst]
	for j, p := range products {
		value := p + norms[j]
		if value >= limit || from+j == itself {
			continue
		}
		l.rows[l.worst], l.values[l.worst] = int32(from+j), value
		for k, v := range l.values {
			if v > l.values[l.worst] {
				l.worst = k
			}
		}
		limit = l.values[l.worst]
	}
}

// reach returns a lower bound of the squared distances of rows not listed,
// given the squared norm of the row whose list it is. In the unit ball the
// values are sums of d+2 terms of at most 4 in all, each as exact as u = 2⁻²⁴,
// and rounding the rows themselves moves them by 3u (see boundError).
func (l *shortlist) reach(norm float64, d, n int) float64 {
	if len(l.rows) == n-1 {
		return math.Inf(1)
	}
	const u = 0x1p-24
	return norm + float64(l.values[l.worst]) - 4*float64(d+10)*u
}
