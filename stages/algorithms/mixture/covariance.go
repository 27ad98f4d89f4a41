package mixture

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

const (
	// emptyCount is added to the soft count of each component so that an
	// empty one has a mean: ten units in the last place of 1.
	emptyCount = 10 * 0x1p-52
	// negligible is the responsibility below which a row is left out of a
	// component's sums. It is negligible even compared with emptyCount. In well
	// separated mixtures each row then counts in one component only.
	negligible = 1e-26
)

// mean writes the mean of component j to dst and returns its soft count.
func (m *maximiser) mean(dst []float64, x blas32.General, j int) float64 {
	count := emptyCount
	for i := range x.Rows {
		r := m.responsibility(i, j)
		if r < negligible {
			continue
		}
		count += r
		for a, v := range dense.Row(x, i) {
			dst[a] += r * float64(v)
		}
	}
	for a := range dst {
		dst[a] /= count
	}
	return count
}

func (m *maximiser) responsibility(i, j int) float64 {
	return m.responsibilities.Data[i*m.responsibilities.Stride+j]
}

// covariance returns the covariance of component j in the maximiser's form,
// which is not Tied, with the floor added. It is unfinished if ctx ends.
func (m *maximiser) covariance(ctx context.Context, x blas32.General, j int, mean []float64, count float64) []float64 {
	if m.form == Full {
		scatter := dense.New64(x.Cols, x.Cols)
		addScatter(ctx, scatter, x, mean, func(i int) float64 { return m.responsibility(i, j) })
		return m.finishFull(scatter, count)
	}
	variance := m.variances(x, j, mean, count)
	if m.form == Spherical {
		sum := 0.0
		for _, v := range variance {
			sum += v
		}
		return []float64{sum / float64(len(variance))}
	}
	return variance
}

// variances returns the variance of each axis in component j plus the floor.
func (m *maximiser) variances(x blas32.General, j int, mean []float64, count float64) []float64 {
	variance := make([]float64, x.Cols)
	for i := range x.Rows {
		r := m.responsibility(i, j)
		if r < negligible {
			continue
		}
		for a, v := range dense.Row(x, i) {
			d := float64(v) - mean[a]
			variance[a] += r * d * d
		}
	}
	for a := range variance {
		variance[a] = variance[a]/count + m.floor
	}
	return variance
}

// tie sets all covariances of c to the pooled one. The scatter within the
// components is the scatter around the origin, which never changes, minus the
// scatter of the means.
func (m *maximiser) tie(c *Components, counts []float64) {
	d := c.Dim()
	within := dense.New64(d, d)
	copy(within.Data, m.scatter.Data)
	total := 0.0
	for k, n := range counts {
		total += n
		mean := c.Means.RawRowView(k)
		for a := range d {
			for b := a; b < d; b++ {
				within.Data[a*d+b] -= n * (mean[a] - m.origin[a]) * (mean[b] - m.origin[b])
			}
		}
	}
	pooled := m.finishFull(within, total)
	for k := range c.Covariances {
		c.Covariances[k] = pooled
	}
}

// finishFull turns the upper triangle of a scatter into a covariance: it
// divides by count, adds the floor to the diagonal and copies the result to the
// lower triangle.
func (m *maximiser) finishFull(scatter blas64.General, count float64) []float64 {
	d := scatter.Rows
	for a := range d {
		for b := a; b < d; b++ {
			v := scatter.Data[a*d+b] / count
			if a == b {
				v += m.floor
			}
			scatter.Data[a*d+b], scatter.Data[b*d+a] = v, v
		}
	}
	return scatter.Data
}

// addScatter adds Σ weight(i)·(x_i − mean)(x_i − mean)ᵀ to the upper triangle
// of dst (d×d). Rows of negligible weight are left out. It stops early if ctx
// ends.
func addScatter(ctx context.Context, dst blas64.General, x blas32.General, mean []float64, weight func(i int) float64) {
	d := x.Cols
	block := dense.New64(blockRows, d)
	used := 0
	flush := func() {
		addUpperProduct(dst, view(block, 0, used, 0, d))
		used = 0
	}
	for i := range x.Rows {
		w := weight(i)
		if w < negligible {
			continue
		}
		root, out := math.Sqrt(w), block.Data[used*d:][:d]
		for j, v := range dense.Row(x, i) {
			out[j] = root * (float64(v) - mean[j])
		}
		if used++; used < blockRows {
			continue
		}
		if ctx.Err() != nil {
			return
		}
		flush()
	}
	if used > 0 {
		flush()
	}
}

// addUpperProduct adds yᵀ·y to the upper triangle of dst, a panel of columns at a
// time (of rows, more of y would be packed for it). It also writes to a part of the
// lower triangle.
func addUpperProduct(dst, y blas64.General) {
	n, d := y.Rows, y.Cols
	for lo := 0; lo < d; lo += panel {
		hi := min(lo+panel, d)
		kernel.Gemm64(true, false, 1, view(y, 0, n, 0, hi), view(y, 0, n, lo, hi), 1, view(dst, 0, hi, lo, hi))
	}
}
