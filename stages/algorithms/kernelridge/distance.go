package kernelridge

import (
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// grain is how many rows of a kernel matrix one thread computes at least.
const grain = 16

// Gram returns the n×m values of the kernel of the rows of x (n×d) and z (m×d).
func Gram(x, z blas32.General, gamma float64) blas64.General {
	k := dense.New64(x.Rows, z.Rows)
	others := newOthers(z)
	kernel.Parallel(x.Rows, grain, func(lo, hi int) {
		newPoints(dense.Rows(x, lo, hi)).gaussian(rows64(k, lo, hi), others, gamma)
	})
	return k
}

// SquaredDistances returns |x_i − z_j|², n×m.
func SquaredDistances(x, z blas32.General) blas64.General {
	d := dense.New64(x.Rows, z.Rows)
	others := newOthers(z)
	kernel.Parallel(x.Rows, grain, func(lo, hi int) {
		newPoints(dense.Rows(x, lo, hi)).squaredDistances(rows64(d, lo, hi), others)
	})
	for i, v := range d.Data {
		d.Data[i] = max(v, 0) // below 0 by rounding
	}
	return d
}

// EachSquaredDistances calls f with |x_i − z_j|² of each row i of x to all rows of z, on
// several threads at once. By rounding some may be a little below 0. f may write to d,
// which is valid until it returns.
func EachSquaredDistances(x, z blas32.General, f func(i int, d []float64)) {
	others := newOthers(z)
	kernel.Parallel((x.Rows+scoredRows-1)/scoredRows, 1, func(first, last int) {
		some := newPoints(dense.New(scoredRows, x.Cols))
		d, giveBack := dense.Borrow64(scoredRows, z.Rows)
		defer giveBack()
		for block := first; block < last; block++ {
			lo, hi := block*scoredRows, min((block+1)*scoredRows, x.Rows)
			some.set(dense.Rows(x, lo, hi))
			d.Rows = hi - lo
			some.squaredDistances(d, others)
			for i := range d.Rows {
				f(lo+i, d.Data[i*d.Stride:][:d.Cols])
			}
		}
	})
}

func rows64(m blas64.General, lo, hi int) blas64.General {
	return blas64.General{Rows: hi - lo, Cols: m.Cols, Stride: m.Stride, Data: m.Data[lo*m.Cols : hi*m.Cols]}
}

// Squared distances are one matrix product: |p − q|² = (p, |p|², 1)·(−2q, 1, |q|²).

// points are rows (p, |p|², 1) in float64.
type points struct{ blas64.General }

// others are rows (−2q, 1, |q|²) in float64.
type others struct{ blas64.General }

func newPoints(x blas32.General) points {
	p := points{dense.New64(x.Rows, x.Cols+2)}
	p.set(x)
	return p
}

// set replaces the points by the rows of x, which are no more than there were first.
func (p *points) set(x blas32.General) {
	p.Rows = x.Rows
	for i := range x.Rows {
		row := p.Data[i*p.Stride:][:p.Cols]
		row[x.Cols], row[x.Cols+1] = extend(row, dense.Row(x, i), 1), 1
	}
}

func newOthers(z blas32.General) others {
	o := others{dense.New64(z.Rows, z.Cols+2)}
	for i := range z.Rows {
		row := o.Data[i*o.Stride:][:o.Cols]
		row[z.Cols], row[z.Cols+1] = 1, extend(row, dense.Row(z, i), -2)
	}
	return o
}

// extend writes x, times a factor, to dst and returns |x|².
func extend(dst []float64, x []float32, factor float64) (square float64) {
	for j, v := range x {
		w := float64(v)
		dst[j] = factor * w
		square += w * w
	}
	return square
}

// squaredDistances writes |p_i − q_j|² to d, n×m, which may be below 0 by rounding.
func (p points) squaredDistances(d blas64.General, q others) {
	if d.Rows == 0 || d.Cols == 0 {
		return
	}
	kernel.Gemm64(false, true, 1, p.General, q.General, 0, d)
}

// gaussian writes exp(−gamma |p_i − q_j|²) to k, n×m.
func (p points) gaussian(k blas64.General, q others, gamma float64) {
	if k.Rows == 0 || k.Cols == 0 {
		return
	}
	kernel.Gemm64(false, true, -gamma, p.General, q.General, 0, k)
	for i := range k.Rows {
		row := k.Data[i*k.Stride:][:k.Cols]
		kernel.Exp64(row, row)
	}
}

// wide returns x in float64.
func wide(x blas32.General) blas64.General {
	w := dense.New64(x.Rows, x.Cols)
	for i := range x.Rows {
		extend(w.Data[i*w.Stride:][:x.Cols], dense.Row(x, i), 1)
	}
	return w
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}
