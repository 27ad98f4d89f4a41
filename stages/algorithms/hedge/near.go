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
	// chanceDeviations of the expected share of far rows are no sign of new rows.
	chanceDeviations = 3
)

// nearness says which rows lie where the source has few.
type nearness struct {
	source, target       []int   // the rows looked at
	sourceFar, targetFar []bool  // of these, which are farther from the source than limit
	distance             float64 // of the middle row of the target from its nearest, beside that of the source's rows from their mean
}

// near finds the rows that are farther from the source than novelQuantile of the source's
// own rows are from the others.
func (f *fit) near(ctx context.Context) (*nearness, error) {
	a, err := principalAxes(ctx, f.source, nearAxes)
	if err != nil {
		return nil, err
	}
	n := &nearness{source: dense.Sample(f.distinct, nearRows, f.random(streamNovelty)),
		target: dense.Sample(f.target.Rows, nearRows, f.random(streamNovelty))}
	source := a.apply(dense.Gather(f.source, n.source))
	own := nearest(source, source, true)
	rising := slices.Sorted(slices.Values(own))
	limit := rising[int(novelQuantile*float64(len(rising)-1))]
	far := func(distances []float64) []bool {
		far := make([]bool, len(distances))
		for i, d := range distances {
			far[i] = d > limit
		}
		return far
	}
	n.sourceFar = far(own)
	others := nearest(a.apply(dense.Gather(f.target, n.target)), source, false)
	n.targetFar = far(others)
	slices.Sort(others)
	n.distance = math.Sqrt(others[len(others)/2] / max(spread(source), math.SmallestNonzeroFloat64))
	return n, ctx.Err()
}

// spread is the mean square of the norms of rows, which are centred.
func spread(x blas32.General) (sum float64) {
	for _, v := range x.Data {
		sum += float64(v) * float64(v)
	}
	return sum / float64(x.Rows)
}

// novelty returns the share of target rows that are far from the source.
func (n *nearness) novelty() float64 {
	far := 0
	for _, is := range n.targetFar {
		if is {
			far++
		}
	}
	return float64(far) / float64(len(n.targetFar))
}

// kept returns the rows of the source and of the target that are not far.
func (n *nearness) kept() (source, target []int) {
	pick := func(rows []int, far []bool) (kept []int) {
		for i, row := range rows {
			if !far[i] {
				kept = append(kept, row)
			}
		}
		return kept
	}
	return pick(n.source, n.sourceFar), pick(n.target, n.targetFar)
}

// newShare is the share of target rows that are of no class of the source, if these have
// stayed and have the given shares: what makes more rows far than the classes would, and
// than chance would among so many rows.
func (n *nearness) newShare(labels []int32, shares []float64, rows int) float64 {
	far, all := make([]float64, len(shares)), make([]float64, len(shares))
	for i, row := range n.source {
		k := labels[row]
		all[k]++
		if n.sourceFar[i] {
			far[k]++
		}
	}
	expected := 0.0
	for k, share := range shares {
		if all[k] > 0 {
			expected += share * far[k] / all[k]
		}
	}
	chance := math.Sqrt(expected * (1 - expected) / float64(rows))
	if n.novelty() < expected+chanceDeviations*chance {
		return 0
	}
	return (n.novelty() - expected) / max(1-expected, 1-novelQuantile)
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
