package labelshift

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/stat"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// shifted are posteriors that carry source of rows drawn by target: class k is a normal
// cloud around k·apart.
func shifted(rng *rand.Rand, n int, source, target []float64, apart float64) blas32.General {
	x := dense.New(n, len(source))
	for i := range n {
		k, u := 0, rng.Float64()
		for u > target[k] && k < len(target)-1 {
			u -= target[k]
			k++
		}
		v, sum := rng.NormFloat64()+apart*float64(k), 0.0
		row := make([]float64, len(source))
		for j, p := range source {
			row[j] = p * math.Exp(-(v-apart*float64(j))*(v-apart*float64(j))/2)
			sum += row[j]
		}
		for j := range row {
			x.Data[i*x.Cols+j] = float32(row[j] / sum)
		}
	}
	return x
}

// solve goes to the fixed point by sums, from a point, and says in how many passes.
func solve(t *testing.T, x blas32.General, source, p []float64) (*EMSums, []float64, int) {
	t.Helper()
	for pass := 1; pass <= 30; pass++ {
		s := NewEMSums(len(source))
		if err := s.Add(x, source, p); err != nil {
			t.Fatal(err)
		}
		next, err := s.Next(p)
		if err != nil {
			t.Fatal(err)
		}
		if dense.L1(p, next) < 1e-13 {
			return s, next, pass
		}
		p = next
	}
	t.Fatal("no fixed point in 30 passes")
	return nil, nil, 0
}

// Newton's steps end where EM's do, in few passes, from near and from far, and where a class
// is not there at all.
func TestEMSumsEndWhereEMDoes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, tc := range []struct {
		source, target []float64
		apart          float64
	}{
		{[]float64{.5, .5}, []float64{.9, .1}, 1},
		{[]float64{.2, .3, .5}, []float64{.7, .2, .1}, 2},
		{[]float64{.2, .3, .5}, []float64{.6, 0, .4}, 3},
		{[]float64{.25, .25, .25, .25}, []float64{.001, .009, .09, .9}, 2},
	} {
		x := shifted(rng, 4000, tc.source, tc.target, tc.apart)
		em, err := EM(x, tc.source, EMOptions{Iterations: 1_000_000, Tolerance: 1e-15})
		if err != nil {
			t.Fatal(err)
		}
		_, p, passes := solve(t, x, tc.source, tc.source)
		if d := dense.L1(p, em.Proportions); d > 1e-7 { // EM's steps are small long before its end
			t.Errorf("%v: the fixed point is %v, and EM's %v: L1 %g", tc.target, p, em.Proportions, d)
		}
		if passes > 25 {
			t.Errorf("%v: %d passes", tc.target, passes)
		}
		_, some, _ := solve(t, dense.Rows(x, 0, 1000), tc.source, tc.source)
		if _, _, again := solve(t, x, tc.source, some); again > 9 {
			t.Errorf("%v: %d passes from the fixed point of a quarter of the rows", tc.target, again)
		}
	}
}

// However rows are divided among parts, and in whatever order these are added, the sums are
// the same to the last bit.
func TestEMSumsOfParts(t *testing.T) {
	source, p := []float64{.2, .3, .5}, []float64{.7, .2, .1}
	x := shifted(rand.New(rand.NewPCG(5, 6)), 1000, source, p, 1.5)
	whole := NewEMSums(3)
	if err := whole.Add(x, source, p); err != nil {
		t.Fatal(err)
	}
	for _, parts := range []int{7, 64} {
		total := NewEMSums(3)
		for i := parts - 1; i >= 0; i-- {
			s := NewEMSums(3)
			if err := s.Add(dense.Rows(x, i*1000/parts, (i+1)*1000/parts), source, p); err != nil {
				t.Fatal(err)
			}
			total.AddSums(s)
		}
		for i := range whole.Second {
			if total.Second[i].String() != whole.Second[i].String() {
				t.Errorf("%d parts: sum %d differs", parts, i)
			}
		}
		if total.Rows != whole.Rows || total.First[1].String() != whole.First[1].String() {
			t.Errorf("%d parts: the sums differ", parts)
		}
	}
}

// The variance is that of fixed points of other rows of the same kind.
func TestEMSumsVariance(t *testing.T) {
	source, target := []float64{.2, .3, .5}, []float64{.6, .3, .1}
	rng := rand.New(rand.NewPCG(7, 8))
	shares := make([][]float64, 3)
	said := make([]float64, 3)
	const runs = 300
	for range runs {
		x := shifted(rng, 2000, source, target, 1.5)
		s, p, _ := solve(t, x, source, target)
		c, err := s.Covariance(p)
		if err != nil {
			t.Fatal(err)
		}
		for k := range p {
			shares[k] = append(shares[k], p[k])
			said[k] += c.At(k, k) / runs
			whole := c.At(k, 0) + c.At(k, 1) + c.At(k, 2) // shares add up to 1
			if math.Abs(whole) > 1e-9*c.At(k, k)+1e-18 {
				t.Fatalf("class %d and all have the covariance %g, which is 0", k, whole)
			}
		}
	}
	for k, values := range shares {
		if ratio := said[k] / stat.Variance(values, nil); ratio < 0.75 || ratio > 1.33 {
			t.Errorf("class %d: the variance is said to be %.3g times what it is", k, ratio)
		}
	}
}

func TestEMSumsRefuse(t *testing.T) {
	x := blas32.General{Rows: 1, Cols: 2, Stride: 2, Data: []float32{0, 1}}
	if err := NewEMSums(2).Add(x, []float64{1, 0}, []float64{1, 0}); err == nil {
		t.Error("a row without mass is taken")
	}
	x.Data[0] = float32(math.NaN())
	if err := NewEMSums(2).Add(x, []float64{.5, .5}, []float64{.5, .5}); err == nil {
		t.Error("NaN is taken")
	}
	if _, err := NewEMSums(2).Next([]float64{.5, .5}); err == nil {
		t.Error("no rows have a step")
	}
}
