package mixture

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
)

// Ward divides the rows of x (n×d) into k clusters by agglomeration (Ward
// 1963): it starts from single rows and joins the two clusters whose union adds
// least to the sum of squared distances to the means, until k are left. This is
// the paper's MARSc. The clusters are those of scipy's
// fcluster(linkage(x, "ward"), k, "maxclust").
//
// It fails if there are fewer rows than components, a value is not finite or
// all rows are equal, returns ctx.Err() if ctx ends, and panics unless
// 1 <= k <= MaxRows.
func Ward(ctx context.Context, x blas32.General, k int, o WardOptions) (*Result, error) {
	if err := checkRows(x, k); err != nil {
		return nil, err
	}
	rows, sample := sampleRows(x, k, o.MaxRows, newRand(o.Seed, 0))
	tree, err := linkage(ctx, rows)
	if err != nil {
		return nil, err
	}
	labels := tree.Cut(k)
	means, _ := clusterMeans(rows, labels, k)
	r := &Result{Components: Components{Means: means}, Converged: true, HeightGap: tree.Gap(k)}
	if r.Inertia, err = inertia(ctx, rows, labels, means); err != nil {
		return nil, err
	}
	return r, r.finish(ctx, x, sample, labels, false)
}

// Linkage returns the whole tree of Ward's clustering of the rows of x (n×d).
// The heights are those of scipy's linkage(x, method="ward"): for clusters of m
// and n rows, √(2mn/(m+n)) times the distance of their means. Time is O(n²d)
// and memory O(nd). It fails if x has no rows or a value is not finite, and
// returns ctx.Err() if ctx ends.
func Linkage(ctx context.Context, x blas32.General) (*Hierarchy, error) {
	if err := checkRows(x, 1); err != nil {
		return nil, err
	}
	return linkage(ctx, x)
}

// linkage runs the nearest-neighbour chain (Murtagh 1983; Müllner 2011): it
// follows nearest neighbours until two clusters are nearest to each other,
// joins them, and continues with the rest of the chain. Ward's heights are
// reducible: the union of two such clusters is no nearer to a third than the
// nearer of its parts. So the chain stays valid, and the sorted merges are
// those of the greedy order.
func linkage(ctx context.Context, x blas32.General) (*Hierarchy, error) {
	c, err := newClusters(ctx, x)
	if err != nil {
		return nil, err
	}
	merges := make([]Merge, 0, x.Rows-1)
	var chain []int // slots; each is followed by its nearest neighbour
	for len(merges) < x.Rows-1 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(chain) == 0 {
			chain = append(chain, c.first())
		}
		top, before := chain[len(chain)-1], -1
		if len(chain) > 1 {
			before = chain[len(chain)-2]
		}
		next, squaredHeight := c.nearest(top, before)
		if next != before {
			chain = append(chain, next)
			continue
		}
		merges = append(merges, Merge{A: c.row[top], B: c.row[next], Height: math.Sqrt(squaredHeight)})
		c.join(top, next)
		chain = c.compact(chain[:len(chain)-2])
	}
	return newHierarchy(x.Rows, merges), nil
}
