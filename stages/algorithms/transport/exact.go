package transport

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// marginalTolerance is how much the sums of the two marginals may differ, as a
// share of the first.
const marginalTolerance = 1e-6

// Plan is an optimal transport plan with its proof.
type Plan struct {
	// Mass is n×m: the mass that goes from i to j. Rows sum to the first
	// marginal and columns to the second. At most n+m−1 values are not zero.
	Mass *mat.Dense
	// Cost is the sum of mass times cost.
	Cost float64
	// SourceDual (n) and TargetDual (m) prove that no plan costs less:
	// SourceDual[i] + TargetDual[j] <= cost(i, j), with equality where there is
	// mass, up to rounding. Their inner products with the marginals sum to Cost.
	SourceDual, TargetDual []float64
	// Pivots is the number of steps the simplex algorithm took.
	Pivots int
}

// Exact solves the discrete optimal transport problem, equation (2) of the
// paper: it returns the plan of least cost (n×m) that moves the masses a (n) to
// the masses b (m). Masses may be zero. Their sums may differ by a millionth; b
// is scaled to the sum of a. If several plans are best, the choice is arbitrary
// but always the same.
//
// The algorithm is the network simplex with strongly feasible trees (Cunningham
// 1976), which cannot cycle. Masses are integers in units of 2⁻⁶² of their sum,
// so flows are exact.
//
// It fails if a mass is negative or not finite, the masses are all zero, the
// sums differ or a cost is not finite. It returns ctx.Err() if ctx ends, and
// panics if the lengths do not fit.
func Exact(ctx context.Context, a, b []float64, cost *mat.Dense) (*Plan, error) {
	n, m := cost.Dims()
	if len(a) != n || len(b) != m {
		panic("transport: Exact: one mass a row and a column of the cost is needed")
	}
	if err := checkMarginals(a, b); err != nil {
		return nil, err
	}
	if err := checkCost(cost); err != nil {
		return nil, err
	}
	supply, demand := count(a), count(b)
	balance(supply, demand)
	problem := newSubproblem(supply, demand, cost)
	tree := newBasis(problem)
	pivots, err := tree.optimise(ctx)
	if err != nil {
		return nil, err
	}
	return problem.plan(tree, cost, dense.Sum(a), pivots), nil
}

func checkMarginals(a, b []float64) error {
	if err := checkMasses("source", a); err != nil {
		return err
	}
	if err := checkMasses("target", b); err != nil {
		return err
	}
	total, other := dense.Sum(a), dense.Sum(b)
	if total == 0 {
		return errors.New("transport: all source masses are zero: give some mass")
	}
	if !(math.Abs(total-other) <= marginalTolerance*total) {
		return fmt.Errorf("transport: source masses sum to %v and target masses to %v: scale them to the same sum", total, other)
	}
	return nil
}

func checkMasses(name string, masses []float64) error {
	for i, mass := range masses {
		if !(mass >= 0) || math.IsInf(mass, 1) {
			return fmt.Errorf("transport: %s mass %d is %v: give finite masses of at least 0", name, i, mass)
		}
	}
	return nil
}

// whole is the sum of all masses in the units of flows.
const whole = 1 << 62

// count returns masses as integers that sum to whole, up to rounding.
func count(masses []float64) []int64 {
	total, units := dense.Sum(masses), make([]int64, len(masses))
	for i, mass := range masses {
		units[i] = int64(mass / total * whole)
	}
	return units
}

// balance changes the largest demand so that demand and supply have the same
// sum. The change is of the order of rounding.
func balance(supply, demand []int64) {
	difference, largest := int64(0), 0
	for _, s := range supply {
		difference += s
	}
	for j, d := range demand {
		difference -= d
		if d > demand[largest] {
			largest = j
		}
	}
	demand[largest] += difference
}

// subproblem is the problem without the nodes of zero mass.
type subproblem struct {
	n, m           int // sources and sinks with mass
	sources, sinks []int
	supply, demand []int64
	cost           []float64 // n×m
	largest        float64   // the largest absolute cost
}

func newSubproblem(supply, demand []int64, cost *mat.Dense) *subproblem {
	p := &subproblem{}
	p.sources, p.supply = positive(supply)
	p.sinks, p.demand = positive(demand)
	p.n, p.m = len(p.sources), len(p.sinks)
	p.cost = make([]float64, 0, p.n*p.m)
	for _, i := range p.sources {
		row := cost.RawRowView(i)
		for _, j := range p.sinks {
			p.cost = append(p.cost, row[j])
			p.largest = max(p.largest, math.Abs(row[j]))
		}
	}
	return p
}

// positive returns the indices and values of the positive elements.
func positive(units []int64) (indices []int, values []int64) {
	for i, u := range units {
		if u > 0 {
			indices, values = append(indices, i), append(values, u)
		}
	}
	return indices, values
}

// plan returns the solution of an optimal tree.
func (p *subproblem) plan(t *basis, cost *mat.Dense, total float64, pivots int) *Plan {
	n, m := cost.Dims()
	plan := &Plan{Mass: mat.NewDense(n, m, nil), SourceDual: make([]float64, n), TargetDual: make([]float64, m), Pivots: pivots}
	for node := range p.n + p.m - 1 { // all but the root
		if t.flow[node] > 0 {
			source, sink := t.arc(node)
			i, j, mass := p.sources[source], p.sinks[sink], float64(t.flow[node])/whole*total
			plan.Mass.Set(i, j, mass)
		}
	}
	for i := range n {
		for j, mass := range plan.Mass.RawRowView(i) {
			plan.Cost += mass * cost.At(i, j)
		}
	}
	p.setDuals(plan, t, cost)
	return plan
}

// setDuals copies the potentials. Nodes without mass get the greatest duals that
// the costs allow.
func (p *subproblem) setDuals(plan *Plan, t *basis, cost *mat.Dense) {
	u, v := plan.SourceDual, plan.TargetDual
	fill(u, math.Inf(1))
	fill(v, math.Inf(1))
	for k, i := range p.sources {
		u[i] = t.potential[k]
	}
	for k, j := range p.sinks {
		v[j] = t.potential[p.n+k]
	}
	for j := range v {
		if math.IsInf(v[j], 1) {
			for _, i := range p.sources {
				v[j] = min(v[j], cost.At(i, j)-u[i])
			}
		}
	}
	for i := range u {
		if math.IsInf(u[i], 1) {
			for j, dual := range v {
				u[i] = min(u[i], cost.At(i, j)-dual)
			}
		}
	}
}

func fill(x []float64, v float64) {
	for i := range x {
		x[i] = v
	}
}
