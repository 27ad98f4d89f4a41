package mixture

import "sort"

// Hierarchy is the tree of an agglomerative clustering of N rows.
type Hierarchy struct {
	// N is the number of rows, at least 1.
	N int
	// Merges holds the N−1 merges by increasing height.
	Merges []Merge
}

// Merge joins clusters A < B. Cluster i < N is row i, and cluster N+j is the
// result of merge j, as in scipy's linkage matrix.
type Merge struct {
	A, B   int
	Height float64
	Size   int
}

// Cut undoes the last k−1 merges and returns the cluster of each row, numbered
// 0 to k−1 by first appearance. It panics unless 1 <= k <= N.
func (h *Hierarchy) Cut(k int) []int32 {
	if k < 1 || k > h.N {
		panic("mixture: Cut: k out of range")
	}
	forest := newForest(h.N)
	member := make([]int, h.N, 2*h.N) // a row of each cluster
	for i := range member {
		member[i] = i
	}
	for _, m := range h.Merges[:h.N-k] {
		member = append(member, forest.union(member[m.A], member[m.B]))
	}
	return forest.labels()
}

// Gap says how clearly the rows fall into k clusters, from 0 to 1: the height of
// the first merge that Cut(k) undoes minus that of the last one it keeps, as a
// share of the former. At 0 the two heights are equal, so other clusters would
// be as good. It is also 0 if Cut(k) keeps or undoes no merge. It panics unless
// 1 <= k <= N.
func (h *Hierarchy) Gap(k int) float64 {
	if k < 1 || k > h.N {
		panic("mixture: Gap: k out of range")
	}
	if k == 1 || k == h.N || h.Merges[h.N-k].Height == 0 {
		return 0
	}
	return 1 - h.Merges[h.N-k-1].Height/h.Merges[h.N-k].Height
}

// newHierarchy sorts merges whose clusters are named by any of their rows, and
// numbers the clusters as Merge does.
func newHierarchy(n int, merges []Merge) *Hierarchy {
	sort.SliceStable(merges, func(i, j int) bool { return merges[i].Height < merges[j].Height })
	forest := newForest(n)
	name, size := make([]int, n), make([]int, n)
	for i := range n {
		name[i], size[i] = i, 1
	}
	for j, m := range merges {
		a, b := forest.find(m.A), forest.find(m.B)
		root := forest.union(a, b)
		merges[j].A, merges[j].B = min(name[a], name[b]), max(name[a], name[b])
		name[root], size[root] = n+j, size[a]+size[b]
		merges[j].Size = size[root]
	}
	return &Hierarchy{N: n, Merges: merges}
}

// forest is a union-find structure over rows.
type forest []int

func newForest(n int) forest {
	f := make(forest, n)
	for i := range f {
		f[i] = i
	}
	return f
}

func (f forest) find(i int) int {
	for f[i] != i {
		f[i] = f[f[i]]
		i = f[i]
	}
	return i
}

// union joins the sets of i and j and returns the new root. It is the lower of
// the two roots, so that labels are in the order of the rows.
func (f forest) union(i, j int) int {
	i, j = f.find(i), f.find(j)
	root := min(i, j)
	f[max(i, j)] = root
	return root
}

// labels numbers the sets by first appearance.
func (f forest) labels() []int32 {
	labels := make([]int32, len(f))
	next := int32(0)
	for i := range f {
		if root := f.find(i); root == i {
			labels[i] = next
			next++
		} else {
			labels[i] = labels[root]
		}
	}
	return labels
}
