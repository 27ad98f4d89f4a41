package hedge

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/kernelridge"
)

const (
	nearRows      = 1_500 // rows of a domain whose distances are looked at, at most
	nearAxes      = 15    // principal components of the source in which distances are taken
	neighbours    = 5
	novelQuantile = 0.95
)

// novelty returns the share of target rows that are farther from the source than
// novelQuantile of the source's own rows are from the others.
func (f *fit) novelty(ctx context.Context) (float64, error) {
	a, err := principalAxes(ctx, f.source, nearAxes)
	if err != nil {
		return 0, err
	}
	source := a.apply(dense.Gather(f.source, dense.Sample(f.source.Rows, nearRows, f.random(streamNovelty))))
	target := a.apply(dense.Gather(f.target, dense.Sample(f.target.Rows, nearRows, f.random(streamNovelty))))
	own := nearest(source, source, true)
	slices.Sort(own)
	limit := own[int(novelQuantile*float64(len(own)-1))]
	novel := 0
	for _, d := range nearest(target, source, false) {
		if d > limit {
			novel++
		}
	}
	return float64(novel) / float64(target.Rows), ctx.Err()
}

// nearest returns the mean squared distance of each row of x to its nearest rows of z;
// to those other than itself if x and z are the same.
func nearest(x, z blas32.General, same bool) []float64 {
	means := make([]float64, x.Rows)
	kernelridge.EachSquaredDistances(x, z, func(i int, d []float64) {
		if same {
			d[i] = math.Inf(1)
		}
		means[i] = meanOfLeast(d)
	})
	return means
}

// meanOfLeast is the mean of the least finite values, neighbours of them if there are so
// many.
func meanOfLeast(values []float64) float64 {
	var least [neighbours]float64 // rising
	for i := range least {
		least[i] = math.Inf(1)
	}
	greatest := least[neighbours-1]
	for _, v := range values {
		if v >= greatest {
			continue
		}
		i := neighbours - 1
		for ; i > 0 && least[i-1] > v; i-- {
			least[i] = least[i-1]
		}
		least[i] = v
		greatest = least[neighbours-1]
	}
	n, sum := 0, 0.0
	for _, v := range least {
		if math.IsInf(v, 1) {
			break
		}
		n, sum = n+1, sum+max(v, 0) // below 0 by rounding
	}
	return sum / float64(max(n, 1))
}
