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
	k := SquaredDistances(x, z)
	kernel.Parallel(k.Rows, grain, func(lo, hi int) {
		gaussian(k.Data[lo*k.Cols:hi*k.Cols], gamma)
	})
	return k
}

// gaussian replaces squared distances by values of the kernel.
func gaussian(d []float64, gamma float64) {
	scale(d, -gamma)
	kernel.Exp64(d, d)
}

// SquaredDistances returns |x_i − z_j|², n×m.
func SquaredDistances(x, z blas32.General) blas64.General {
	d := dense.New64(x.Rows, z.Rows)
	b := newPoints(z)
	kernel.Parallel(x.Rows, grain, func(lo, hi int) {
		part := blas64.General{Rows: hi - lo, Cols: d.Cols, Stride: d.Stride, Data: d.Data[lo*d.Cols : hi*d.Cols]}
		newPoints(dense.Rows(x, lo, hi)).squaredDistances(part, b)
	})
	return d
}

// points are rows in float64 with their squared lengths.
type points struct {
	rows    blas64.General // n×d
	squares []float64      // n
}

func newPoints(x blas32.General) points {
	p := points{rows: wide(x), squares: make([]float64, x.Rows)}
	p.measure()
	return p
}

// set replaces the points by the rows of x, which are no more than there were first.
func (p *points) set(x blas32.General) {
	p.rows.Rows, p.squares = x.Rows, p.squares[:x.Rows]
	widen(p.rows, x)
	p.measure()
}

func (p *points) measure() {
	for i := range p.squares {
		row := p.rows.Data[i*p.rows.Stride:][:p.rows.Cols]
		p.squares[i] = dot(row, row)
	}
}

// wide returns x in float64.
func wide(x blas32.General) blas64.General {
	w := dense.New64(x.Rows, x.Cols)
	widen(w, x)
	return w
}

// widen writes x to w in float64.
func widen(w blas64.General, x blas32.General) {
	for i := range x.Rows {
		row := w.Data[i*w.Stride:][:x.Cols]
		for j, v := range dense.Row(x, i) {
			row[j] = float64(v)
		}
	}
}

// squaredDistances writes |p_i − q_j|² = |p_i|² + |q_j|² − 2·p_i·q_j to d, n×m.
func (p points) squaredDistances(d blas64.General, q points) {
	if d.Rows == 0 || d.Cols == 0 {
		return
	}
	kernel.Gemm64(false, true, -2, p.rows, q.rows, 0, d)
	for i := range d.Rows {
		row := d.Data[i*d.Stride:][:d.Cols]
		for j, v := range row {
			row[j] = max(0, v+p.squares[i]+q.squares[j])
		}
	}
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}
