package labelshift

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// SimplexLeastSquares returns the p >= 0 of sum 1 for which |M·p − b| is least.
// near is a guess of p, or nil; it changes nothing but the time.
func SimplexLeastSquares(m *mat.Dense, b, near []float64) ([]float64, error) {
	var g, h mat.Dense
	g.Mul(m.T(), m)
	h.Mul(m.T(), mat.NewDense(len(b), 1, b))
	return SimplexQuadratic(&g, mat.Col(nil, 0, &h), near)
}

// SimplexQuadratic returns the p >= 0 of sum 1 for which ½·pᵀGp − hᵀp is least, of a G that is
// positive semidefinite. near is as for SimplexLeastSquares.
func SimplexQuadratic(g *mat.Dense, h, near []float64) ([]float64, error) {
	p, err := leastQuadratic(g, h, true, near)
	if err == nil {
		dense.Normalize(p) // rounding
	}
	return p, err
}

// NonnegativeQuadratic returns the x >= 0 for which ½·xᵀGx − hᵀx is least, of a G that is positive semidefinite.
func NonnegativeQuadratic(g *mat.Dense, h []float64) ([]float64, error) {
	return leastQuadratic(g, h, false, nil)
}

const (
	// quadraticRidge keeps singular problems solvable, in units of the mean
	// eigenvalue; the least of several equal solutions results.
	quadraticRidge = 1e-12
	// freeTolerance is how far a derivative must be from 0 to free a variable.
	freeTolerance = 1e-12
	// exchanges bounds the rounds of exchange, and patience those of them in which no
	// fewer variables are on the wrong side than before.
	exchanges, patience = 40, 4
	// roundsEach bounds the rounds of activeSet, for each variable. Lawson and
	// Hanson prove that they end; rounding might let them go in circles.
	roundsEach = 20
)

// manyVariables are so many that freeing them one at a time, each with a solution of its own,
// takes longer than exchanging many at once.
const manyVariables = 16

// leastQuadratic minimises ½·xᵀGx − hᵀx over x >= 0, and over Σx = 1 if simplex is set. G is
// n×n and positive semidefinite. near is a guess of the answer, or nil: where it is right
// about which variables are 0, one solution is enough.
func leastQuadratic(g *mat.Dense, h []float64, simplex bool, near []float64) ([]float64, error) {
	n := len(h)
	q := &quadratic{g: g, h: h, simplex: simplex, x: make([]float64, n), free: make([]bool, n)}
	q.ridge = quadraticRidge * mat.Trace(g) / float64(n)
	if n > manyVariables {
		for i := range q.free {
			q.free[i] = near == nil || near[i] > 0
		}
		if q.exchange() {
			return q.x, nil
		}
		clear(q.x)
		clear(q.free)
	}
	return q.x, q.activeSet()
}

// activeSet is the method of Lawson and Hanson (1974, chapter 23): variables at 0 are
// freed one at a time, the one of steepest descent first, and the minimum over
// the free ones is approached until one of them would become negative.
func (q *quadratic) activeSet() error {
	if q.simplex {
		q.begin()
	}
	for range roundsEach * len(q.x) {
		if !q.release() {
			return nil
		}
		q.descend()
	}
	return errors.New("labelshift: least squares with bounds found no end: give more rows of each class")
}

type quadratic struct {
	g       *mat.Dense
	h       []float64
	simplex bool
	ridge   float64
	x       []float64
	free    []bool
}

// begin puts all mass on the best single variable.
func (q *quadratic) begin() {
	best, least := 0, math.Inf(1)
	for i, h := range q.h {
		if v := q.g.At(i, i)/2 - h; v < least {
			best, least = i, v
		}
	}
	q.x[best], q.free[best] = 1, true
}

// release frees the variable at 0 that lowers the value most, if there is one.
func (q *quadratic) release() bool {
	n := len(q.x)
	descent, level := make([]float64, n), 0.0 // level is the multiplier of Σx = 1
	scale := 0.0
	for i := range n {
		descent[i] = q.h[i] - mat.Dot(q.g.RowView(i), mat.NewVecDense(n, q.x))
		scale = max(scale, math.Abs(q.h[i]))
		if q.simplex && q.free[i] {
			level += q.x[i] * descent[i]
		}
	}
	best := -1
	for i, d := range descent {
		if !q.free[i] && d > level+freeTolerance*scale && (best < 0 || d > descent[best]) {
			best = i
		}
	}
	if best >= 0 {
		q.free[best] = true
	}
	return best >= 0
}

// descend goes to the minimum over the free variables, fixing at 0 those that
// stand in the way.
func (q *quadratic) descend() {
	for {
		target := q.solve()
		step, blocking := 1.0, -1
		for i, free := range q.free {
			if free && target[i] <= 0 && q.x[i]/(q.x[i]-target[i]) <= step {
				step, blocking = q.x[i]/(q.x[i]-target[i]), i
			}
		}
		for i := range q.x {
			q.x[i] += step * (target[i] - q.x[i])
		}
		if blocking < 0 {
			return
		}
		q.x[blocking], q.free[blocking] = 0, false
	}
}

// solve returns the minimum over the free variables, the others being 0.
func (q *quadratic) solve() []float64 {
	var index []int
	for i, free := range q.free {
		if free {
			index = append(index, i)
		}
	}
	f := len(index)
	size := f
	if q.simplex {
		size++
	}
	left, right := mat.NewDense(size, size, nil), mat.NewVecDense(size, nil)
	for a, i := range index {
		for b, j := range index {
			left.Set(a, b, q.g.At(i, j))
		}
		left.Set(a, a, left.At(a, a)+q.ridge)
		right.SetVec(a, q.h[i])
		if q.simplex {
			left.Set(a, f, 1)
			left.Set(f, a, 1)
		}
	}
	if q.simplex {
		right.SetVec(f, 1)
	}
	var solution mat.VecDense
	_ = solution.SolveVec(left, right) // it fails by rounding alone, as the ridge keeps it solvable
	x := make([]float64, len(q.x))
	for a, i := range index {
		x[i] = solution.AtVec(a)
	}
	return x
}

// exchange is block principal pivoting (Júdice & Pires 1994; Kim & Park 2011): all free
// variables that the minimum over them makes negative are fixed at 0, and all others that
// would lower the value are freed, until none are left. It reports whether it came to an end,
// which it does but for problems that are nearly singular.
func (q *quadratic) exchange() bool {
	least, waits := len(q.x)+1, 0
	for range exchanges {
		level, ok := q.factored()
		if !ok {
			return false
		}
		wrong, scale := []int(nil), floats.Norm(q.h, math.Inf(1))
		for i, free := range q.free {
			if free && q.x[i] < 0 || !free && q.h[i]-floats.Dot(q.g.RawRowView(i), q.x) > level+freeTolerance*scale {
				wrong = append(wrong, i)
			}
		}
		switch {
		case len(wrong) == 0:
			return true
		case len(wrong) < least:
			least, waits = len(wrong), 0
		default:
			if waits++; waits > patience {
				return false
			}
		}
		for _, i := range wrong {
			q.free[i] = !q.free[i]
		}
	}
	return false
}

// factored sets x to the minimum over the free variables, the others being 0, and returns the
// multiplier of Σx = 1. It fails if these are none, or depend on each other.
func (q *quadratic) factored() (level float64, ok bool) {
	var index []int
	for i, free := range q.free {
		if q.x[i] = 0; free {
			index = append(index, i)
		}
	}
	if len(index) == 0 {
		return 0, false
	}
	left, right, ones := mat.NewSymDense(len(index), nil), mat.NewVecDense(len(index), nil), mat.NewVecDense(len(index), nil)
	data := left.RawSymmetric()
	for a, i := range index {
		row, to := q.g.RawRowView(i), data.Data[a*data.Stride:]
		for b := a; b < len(index); b++ {
			to[b] = row[index[b]]
		}
		to[a] += q.ridge
		right.SetVec(a, q.h[i])
		ones.SetVec(a, 1)
	}
	var cholesky mat.Cholesky
	var x, each mat.VecDense
	if !cholesky.Factorize(left) || cholesky.SolveVecTo(&x, right) != nil || cholesky.SolveVecTo(&each, ones) != nil {
		return 0, false
	}
	if q.simplex {
		level = (mat.Sum(&x) - 1) / mat.Sum(&each)
		x.AddScaledVec(&x, -level, &each)
	}
	for a, i := range index {
		q.x[i] = x.AtVec(a)
	}
	return level, true
}
