package mixture

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// greedyHeights is Ward's method by its definition: join the pair of least
// height, over and over.
func greedyHeights(x blas32.General) []float64 {
	type cluster struct {
		size float64
		mean []float64
	}
	var clusters []cluster
	for i := range x.Rows {
		mean := make([]float64, x.Cols)
		widen(mean, dense.Row(x, i))
		clusters = append(clusters, cluster{1, mean})
	}
	var heights []float64
	for len(clusters) > 1 {
		least, a, b := math.Inf(1), 0, 0
		for j := range clusters {
			for i := range j {
				d := floats.Distance(clusters[i].mean, clusters[j].mean, 2)
				if h := weight(clusters[i].size, clusters[j].size) * d * d; h < least {
					least, a, b = h, i, j
				}
			}
		}
		heights = append(heights, math.Sqrt(least))
		m, n := clusters[a].size, clusters[b].size
		joined := cluster{m + n, make([]float64, x.Cols)}
		for j := range joined.mean {
			joined.mean[j] = (m*clusters[a].mean[j] + n*clusters[b].mean[j]) / (m + n)
		}
		clusters[a] = joined
		clusters = slices.Delete(clusters, b, b+1)
	}
	return heights
}

func checkHeights(t *testing.T, x blas32.General) {
	t.Helper()
	tree, err := Linkage(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range greedyHeights(x) {
		closeTo(t, fmt.Sprint("height ", i), tree.Merges[i].Height, want, 1e-9)
	}
}

func TestLinkageIsGreedy(t *testing.T) {
	for d := 1; d <= 6; d++ {
		x, _ := blobs(20+30*d, d, 3, 2, uint64(d))
		checkHeights(t, x)
	}
}

// With one row far away, float32 has no digits left for the others. At both
// ends of float32's range it cannot hold the squares.
func TestLinkageAtTheLimitsOfFloat32(t *testing.T) {
	for _, scale := range []float32{1e-30, 1, 1e30} {
		x, _ := blobs(60, 2, 3, 2, 11)
		x.Data[0] = 1e6
		for i := range x.Data {
			x.Data[i] *= scale
		}
		tree, err := Linkage(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range greedyHeights(x) {
			if got := tree.Merges[i].Height; math.Abs(got-want) > 1e-9*want {
				t.Errorf("scale %v: height %d: %v, want %v", scale, i, got, want)
			}
		}
	}
}

func TestLinkageOfEqualRows(t *testing.T) {
	x := blas32.General{Rows: 100, Cols: 2, Stride: 2, Data: make([]float32, 200)}
	for i := range 10 {
		x.Data[i*20] = 3
	}
	checkHeights(t, x)
}

// The scatter around the mean is the sum of half the squared heights.
func TestHeightsSumToScatter(t *testing.T) {
	x, _ := blobs(3000, 10, 4, 1, 12)
	tree, err := Linkage(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for i, m := range tree.Merges {
		sum += m.Height * m.Height / 2
		if i > 0 && m.Height < tree.Merges[i-1].Height {
			t.Errorf("height %d falls", i)
		}
	}
	variance, err := meanVariance(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	closeTo(t, "scatter", sum, variance*3000*10, 1e-10)
	if last := tree.Merges[len(tree.Merges)-1]; last.Size != 3000 {
		t.Errorf("the last merge has %d rows", last.Size)
	}
}

func TestCut(t *testing.T) {
	x := blas32.General{Rows: 5, Cols: 1, Stride: 1, Data: []float32{9, 0, 10, 1, 30}}
	tree, err := Linkage(t.Context(), x)
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range map[int][]int32{
		1: {0, 0, 0, 0, 0},
		2: {0, 0, 0, 0, 1},
		3: {0, 1, 0, 1, 2},
		5: {0, 1, 2, 3, 4},
	} {
		if got := tree.Cut(k); !slices.Equal(got, want) {
			t.Errorf("%d clusters: %v, want %v", k, got, want)
		}
	}
}

// Ward's clusters do not depend on the order of the rows.
func TestWardFollowsPermutations(t *testing.T) {
	x, _ := blobs(400, 6, 5, 0.8, 13)
	order := newRand(14, 0).Perm(400)
	moved := blas32.General{Rows: 400, Cols: 6, Stride: 6, Data: make([]float32, len(x.Data))}
	for to, from := range order {
		copy(dense.Row(moved, to), dense.Row(x, from))
	}
	first, err := Ward(t.Context(), x, 5, WardOptions{})
	if err != nil {
		t.Fatal(err)
	}
	second, err := Ward(t.Context(), moved, 5, WardOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := make([]int32, 400)
	for to, from := range order {
		want[to] = first.Labels[from]
	}
	samePartition(t, second.Labels, want)
	closeTo(t, "inertia", second.Inertia, first.Inertia, 1e-12)
}
