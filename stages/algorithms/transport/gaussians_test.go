package transport

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// cloud returns n rows of d normal values with the given mean and scales, and
// their classes.
func cloud(rng *rand.Rand, n, d int, mean float64, scale []float64, classes int) (blas32.General, []int32) {
	x := blas32.General{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}
	labels := make([]int32, n)
	for i := range n {
		labels[i] = int32(i % classes)
		for j := range d {
			x.Data[i*d+j] = float32(mean + scale[(int(labels[i])+j)%len(scale)]*rng.NormFloat64())
		}
	}
	return x, labels
}

// part returns rows [lo, hi) of x.
func part(x blas32.General, lo, hi int) blas32.General {
	return blas32.General{Rows: hi - lo, Cols: x.Cols, Stride: x.Stride, Data: x.Data[lo*x.Stride : hi*x.Stride]}
}

// Batches of any size give the covariances of all rows, far from 0 too.
func TestGaussiansAreOfAllRows(t *testing.T) {
	const n, d, classes = 700, 4, 3
	x, labels := cloud(newRand(21), n, d, 1e4, []float64{1, 2, 5}, classes)
	labels[5] = -1 // of no class
	for _, size := range []int{1, 7, 300, n} {
		g := NewGaussians(classes+1, d)
		for lo := 0; lo < n; lo += size {
			hi := min(lo+size, n)
			if err := g.Add(t.Context(), part(x, lo, hi), labels[lo:hi]); err != nil {
				t.Fatal(err)
			}
		}
		means := g.Means()
		for k := range classes {
			var of []float64
			for i, l := range labels {
				if int(l) == k {
					for _, v := range x.Data[i*d:][:d] {
						of = append(of, float64(v))
					}
				}
			}
			m := len(of) / d
			var want mat.SymDense
			stat.CovarianceMatrix(&want, mat.NewDense(m, d, of), nil)
			want.ScaleSym(float64(m-1)/float64(m), &want)
			if !mat.EqualApprox(g.Covariance(k, means.RawRowView(k)), &want, 1e-9) {
				t.Errorf("batches of %d, class %d: wrong covariance", size, k)
			}
		}
		if c := g.Covariance(classes, means.RawRowView(classes)); mat.Norm(c, 2) != 0 {
			t.Errorf("a class without rows has the covariance %v", c)
		}
	}
}

// The cost of each pair is that of SquaredBures, also with singular covariances.
func TestBuresCost(t *testing.T) {
	const d = 5
	classes, components := NewGaussians(3, d), NewGaussians(4, d)
	x, labels := cloud(newRand(22), 60, d, 0, []float64{1, 2}, 2) // the last class has no rows
	y, others := cloud(newRand(23), 10, d, 1, []float64{3, 1}, 4) // two or three rows each
	if err := classes.Add(t.Context(), x, labels); err != nil {
		t.Fatal(err)
	}
	if err := components.Add(t.Context(), y, others); err != nil {
		t.Fatal(err)
	}
	cost, err := BuresCost(t.Context(), classes.Moments(), components.Moments())
	if err != nil {
		t.Fatal(err)
	}
	want, from, to := mat.NewDense(3, 4, nil), classes.Means(), components.Means()
	for i := range 2 {
		for j := range 4 {
			d, err := buresOf(t.Context(), from.RawRowView(i), classes.Covariance(i, from.RawRowView(i)),
				to.RawRowView(j), components.Covariance(j, to.RawRowView(j)))
			if err != nil {
				t.Fatal(err)
			}
			want.Set(i, j, d)
		}
	}
	want.Scale(1/mat.Max(want), want)
	if !mat.EqualApprox(cost, want, 1e-9) {
		t.Errorf("costs\n%v, want\n%v", mat.Formatted(cost), mat.Formatted(want))
	}
}

// If two classes have the same mean, only the covariances can tell their
// components apart.
func TestBuresTellsWidthsApart(t *testing.T) {
	const d = 3
	classes, components := NewGaussians(2, d), NewGaussians(2, d)
	x, labels := cloud(newRand(24), 4000, d, 0, []float64{1}, 2)
	y, others := cloud(newRand(25), 4000, d, 0.1, []float64{1.1}, 2)
	for i := range x.Rows {
		for j := range d {
			x.Data[i*d+j] *= float32(1 + 3*labels[i])
			y.Data[i*d+j] *= float32(4 - 3*others[i])
		}
	}
	for g, rows := range map[*Gaussians]blas32.General{classes: x, components: y} {
		if err := g.Add(t.Context(), rows, labels); err != nil {
			t.Fatal(err)
		}
	}
	cost, err := BuresCost(t.Context(), classes.Moments(), components.Moments())
	if err != nil {
		t.Fatal(err)
	}
	m, err := MatchCost(t.Context(), cost, classes.Counts(), []float64{0.5, 0.5})
	if err != nil {
		t.Fatal(err)
	}
	if m.ClassOf[0] != 1 || m.ClassOf[1] != 0 || m.Margin < 0.5 {
		t.Errorf("classes %v with a margin of %v", m.ClassOf, m.Margin)
	}
}

func TestBuresCostOfManyClasses(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector")
	}
	const classes, d = 65, 20
	g, h := NewGaussians(classes, d), NewGaussians(classes, d)
	for i, sum := range []*Gaussians{g, h} {
		x, labels := cloud(newRand(uint64(26+i)), 65*40, d, 0, []float64{1, 2, 3}, classes)
		if err := sum.Add(t.Context(), x, labels); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	cost, err := BuresCost(t.Context(), g.Moments(), h.Moments())
	if err != nil || math.Abs(mat.Max(cost)-1) > 1e-12 {
		t.Fatal(err, mat.Max(cost))
	}
	t.Logf("%d classes of %d dimensions: %v", classes, d, time.Since(began))
}
