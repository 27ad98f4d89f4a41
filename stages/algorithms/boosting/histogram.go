package boosting

import (
	"math"
	"math/bits"
)

// sums are those of a bin's or a leaf's rows, as whole numbers: of their gradients, and of their
// second derivatives above the number of rows (see fixed).
type sums struct{ gradient, hessian int64 }

func (s sums) less(o sums) sums { return sums{s.gradient - o.gradient, s.hessian - o.hessian} }

func (s sums) more(o sums) sums { return sums{s.gradient + o.gradient, s.hessian + o.hessian} }

// fixed turns numbers into whole ones, of which as many as there are rows can be added.
type fixed struct {
	rowBits           int // of sums.hessian
	gradient, hessian float64
}

// newFixed is for rows whose gradients and second derivatives are at most largest.
func newFixed(rows int, largest float64) fixed {
	n := bits.Len(uint(rows))
	return fixed{n, math.Ldexp(1/largest, 61-n), math.Ldexp(1/largest, 61-2*n)}
}

func (f fixed) sums(gradient, hessian float64) sums {
	return sums{int64(math.RoundToEven(gradient * f.gradient)), int64(math.RoundToEven(hessian*f.hessian))<<f.rowBits | 1}
}

func (f fixed) rows(s sums) int { return int(s.hessian & (1<<f.rowBits - 1)) }

// histogram has the sums of each bin of each column, and spare ones after them.
type histogram []sums

// spare is the most bins that a column can have, so that any column's are within an array of that many.
const spare = maxBins + 1

// fill adds some rows, of which each row's sums are given in their order, to the bins of two columns
// (see binned), which begin at some places. Two at a time take little longer than one.
//
//go:noinline
func (h histogram) fill(start, next int, codes, others []uint8, rows []int32, each []sums) {
	bins, more := (*[spare]sums)(h[start:]), (*[spare]sums)(h[next:])
	each, others = each[:len(rows)], others[:len(codes)]
	for i, r := range rows {
		s, b, c := each[i], &bins[codes[r]], &more[others[r]]
		b.gradient += s.gradient
		b.hessian += s.hessian
		c.gradient += s.gradient
		c.hessian += s.hessian
	}
}

// subtract takes the bins of o, from start to end, from those of h.
func (h histogram) subtract(o histogram, start, end int) {
	h, o = h[start:end], o[start:end]
	for i := range h {
		h[i] = h[i].less(o[i])
	}
}
