package mixture

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"
)

// Ward divides the rows of x (n×d) into k clusters by agglomeration: starting
// from single rows, it joins the two clusters whose union adds least to the
// sum of squared distances to the means (Ward 1963), until k are left. This is
// the paper's MARSc. The clusters are those of scipy's
// fcluster(linkage(x, "ward"), k, "maxclust").
//
// It fails if there are fewer rows than components, a value is not finite or
// all rows are equal, and panics unless 1 <= k <= MaxRows.
func Ward(x blas32.General, k int, o WardOptions) (*Result, error) {
	if err := checkRows(x, k); err != nil {
		return nil, err
	}
	rows, sample := sampleRows(x, k, o.MaxRows, newRand(o.Seed, 0))
	tree := linkage(rows)
	labels := tree.Cut(k)
	means, _ := clusterMeans(rows, labels, k)
	r := &Result{Components: Components{Means: means}, Converged: true, Inertia: inertia(rows, labels, means), HeightGap: tree.Gap(k)}
	err := r.finish(x, sample, labels, false)
	return r, err
}

// Linkage returns the whole tree of Ward's clustering of the rows of x. The
// heights are those of scipy's linkage(x, method="ward"): for clusters of m
// and n rows, √(2mn/(m+n)) times the distance of their means. Time is O(n²d)
// and memory O(nd). It fails if x has no rows or a value is not finite.
func Linkage(x blas32.General) (*Hierarchy, error) {
	if err := checkRows(x, 1); err != nil {
		return nil, err
	}
	return linkage(x), nil
}

// linkage runs the nearest-neighbour chain (Murtagh 1983; Müllner 2011):
// follow nearest neighbours until two clusters are each other's, join them and
// go on from what is left of the chain. Ward's heights are reducible, that is,
// the union of two such clusters is no nearer to a third than the nearer of
// its parts, so the chain stays valid and the merges, once sorted, are those
// of the greedy order.
func linkage(x blas32.General) *Hierarchy {
	c := newClusters(x)
	merges := make([]Merge, 0, x.Rows-1)
	var chain []int // slots; each is followed by its nearest neighbour
	for len(merges) < x.Rows-1 {
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
	return newHierarchy(x.Rows, merges)
}
