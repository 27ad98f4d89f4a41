package mixture

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// centroids scores rows by how near they are to K means.
type centroids struct {
	// origin is the mean of the means. It is subtracted from rows and means,
	// because the squared distance |x|² − 2x·c + |c|² loses digits far from zero.
	origin []float64
	means  blas64.General // K×d, minus origin
	half   []float64      // |mean|²/2
}

func newCentroids(means *mat.Dense) *centroids {
	k, d := means.Dims()
	c := &centroids{origin: make([]float64, d), means: dense.New64(k, d), half: make([]float64, k)}
	for i := range k {
		for j, v := range means.RawRowView(i) {
			c.origin[j] += v / float64(k)
		}
	}
	for i := range k {
		mean := c.means.Data[i*d : (i+1)*d]
		for j, v := range means.RawRowView(i) {
			mean[j] = v - c.origin[j]
		}
		c.half[i] = square(mean) / 2
	}
	return c
}

// score gives x·c − |c|²/2, half of |x|² − |x − c|².
func (c *centroids) score(ctx context.Context, dst blas64.General, x blas32.General) error {
	return eachBlock(ctx, x.Rows, func(_, lo, hi int) {
		centred, giveBack := dense.Borrow64(hi-lo, x.Cols)
		defer giveBack()
		centre(centred, x, lo, hi, c.origin)
		block := view(dst, lo, hi, 0, dst.Cols)
		kernel.Gemm64(false, true, 1, centred, c.means, 0, block)
		for i := range block.Rows {
			scores := block.Data[i*block.Stride:][:block.Cols]
			for k, h := range c.half {
				scores[k] -= h
			}
		}
	})
}

// clusterMeans returns the K×d means of the rows of each label and the number
// of those rows. A component without rows has mean zero.
func clusterMeans(x blas32.General, labels []int32, k int) (*mat.Dense, []int) {
	means, counts := mat.NewDense(k, x.Cols, nil), make([]int, k)
	kernel.Parallel(k, 1, func(lo, hi int) {
		for i, l := range labels {
			if int(l) < lo || int(l) >= hi {
				continue
			}
			counts[l]++
			sum := means.RawRowView(int(l))
			for j, v := range dense.Row(x, i) {
				sum[j] += float64(v)
			}
		}
		for c := lo; c < hi; c++ {
			mean := means.RawRowView(c)
			for j := range mean {
				mean[j] /= float64(max(counts[c], 1))
			}
		}
	})
	return means, counts
}

// inertia returns the sum of squared distances of the rows to the means of
// their labels.
func inertia(ctx context.Context, x blas32.General, labels []int32, means *mat.Dense) (float64, error) {
	return sumBlocks(ctx, x.Rows, func(lo, hi int) float64 {
		sum := 0.0
		for i := lo; i < hi; i++ {
			sum += squaredDistance(dense.Row(x, i), means.RawRowView(int(labels[i])))
		}
		return sum
	})
}
