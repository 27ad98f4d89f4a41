package labelshift

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// randomQuadratic is a problem of n variables, of whose answer about that share is above 0.
func randomQuadratic(rng *rand.Rand, n int, share float64) (g *mat.Dense, h []float64) {
	m := mat.NewDense(n+5, n, nil)
	for i := range m.RawMatrix().Data {
		m.RawMatrix().Data[i] = rng.NormFloat64()
	}
	g = new(mat.Dense)
	g.Mul(m.T(), m)
	x := make([]float64, n)
	for i := range x {
		if rng.Float64() < share {
			x[i] = rng.Float64()
		}
	}
	h = make([]float64, n)
	mat.NewVecDense(n, h).MulVec(g, mat.NewVecDense(n, x))
	for i := range h {
		h[i] += rng.NormFloat64()
	}
	return g, h
}

// Exchanging many variables at once ends where freeing one after the other does, from any
// guess.
func TestExchangeEndsWhereTheActiveSetDoes(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	exchanged := 0
	for trial := range 60 {
		n := manyVariables + 1 + rng.IntN(40)
		simplex := trial%2 == 0
		g, h := randomQuadratic(rng, n, []float64{0.1, 0.5, 1}[trial%3])
		want := &quadratic{g: g, h: h, simplex: simplex, x: make([]float64, n), free: make([]bool, n), ridge: quadraticRidge * mat.Trace(g) / float64(n)}
		if err := want.activeSet(); err != nil {
			t.Fatal(err)
		}
		near := make([]float64, n)
		for i := range near {
			near[i] = float64(rng.IntN(2))
		}
		for _, guess := range [][]float64{nil, near, want.x} {
			got, err := leastQuadratic(g, h, simplex, guess)
			if err != nil {
				t.Fatal(err)
			}
			if d := dense.L1(got, want.x); d > 1e-8 {
				t.Errorf("trial %d, %d variables: off by %g", trial, n, d)
			}
		}
		q := &quadratic{g: g, h: h, simplex: simplex, x: make([]float64, n), free: make([]bool, n), ridge: want.ridge}
		for i := range q.free {
			q.free[i] = true
		}
		if q.exchange() {
			exchanged++
		}
	}
	if exchanged < 55 {
		t.Errorf("of 60 problems %d could be solved by exchanging", exchanged)
	}
}

// A problem that says nothing, and one whose variables are copies of each other, have an
// answer.
func TestLeastQuadraticWithoutCurvature(t *testing.T) {
	const n = manyVariables + 4
	copies, h := mat.NewDense(n, n, nil), make([]float64, n)
	for i := range n {
		h[i] = 2
		for j := range n {
			copies.Set(i, j, 2)
		}
	}
	for name, g := range map[string]*mat.Dense{"nothing": mat.NewDense(n, n, nil), "copies": copies} {
		x, err := leastQuadratic(g, h, true, nil)
		if err != nil && name == "nothing" {
			continue // as it says
		}
		sum := 0.0
		for _, v := range x {
			sum += v
			if v < -1e-9 || math.IsNaN(v) {
				t.Errorf("%s: %v", name, x)
			}
		}
		if err != nil || math.Abs(sum-1) > 1e-6 {
			t.Errorf("%s: sum %g, %v", name, sum, err)
		}
	}
}

// Where exchanging many variables at once goes in circles it says so: what it takes for an end is one. The matrices
// here have fewer dimensions than variables.
func TestExchangeKnowsItsEnd(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const n = manyVariables + 8
	gaveUp := 0
	for range 200 {
		a, h := mat.NewDense(15, n, nil), make([]float64, n)
		for i := range a.RawMatrix().Data {
			a.RawMatrix().Data[i] = rng.NormFloat64()
		}
		for i := range h {
			h[i] = 1 + rng.NormFloat64()
		}
		g := &mat.Dense{}
		g.Mul(a.T(), a)
		for i := range n {
			g.Set(i, i, g.At(i, i)+1e-3)
		}
		q := &quadratic{g: g, h: h, x: make([]float64, n), free: make([]bool, n)}
		for i := range q.free {
			q.free[i] = true
		}
		if !q.exchange() {
			gaveUp++
			continue
		}
		for i, x := range q.x {
			slope := h[i] - floats.Dot(g.RawRowView(i), q.x)
			if x < 0 || x == 0 && slope > 1e-6 || x > 0 && math.Abs(slope) > 1e-6 {
				t.Fatalf("variable %d is %v where the slope is %v", i, x, slope)
			}
		}
	}
	if gaveUp == 0 || gaveUp == 200 {
		t.Errorf("it gave up %d of 200 times: nothing is tested", gaveUp)
	}
}
