package kernelridge

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// Equations of many classes are solved by an inverse to what they are one class at a time. What is below the diagonal is not read.
func TestSolveMany(t *testing.T) {
	const n = 30
	rng := rand.New(rand.NewPCG(3, 1))
	left, right := dense.New64(n, n), dense.New64(n, manyClasses)
	for i := range n {
		for j := range n {
			left.Data[i*n+j] = rng.NormFloat64() / n
		}
		left.Data[i*n+i] = 2 + rng.Float64()
	}
	for i := range right.Data {
		right.Data[i] = rng.NormFloat64()
	}
	copyOf := func() equations {
		e := equations{left: left, right: right}
		e.left.Data, e.right.Data = slices.Clone(left.Data), slices.Clone(right.Data)
		return e
	}
	all, err := copyOf().solve(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	for k := range manyClasses {
		one := copyOf()
		one.right = dense.New64(n, 1)
		for i := range n {
			one.right.Data[i] = right.Data[i*manyClasses+k]
		}
		want, err := one.solve(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if math.Abs(all.At(i, k)-want.At(i, 0)) > 1e-10 {
				t.Fatalf("class %d, value %d: %v, and %v alone", k, i, all.At(i, k), want.At(i, 0))
			}
		}
	}
}
