package transport

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
)

// The tree stays strongly feasible, without which the simplex could cycle: an arc that
// has no flow leads towards the root. Equal masses and few costs leave many such arcs.
func TestTreeStaysStronglyFeasible(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	empty := 0
	for _, size := range [][2]int{{6, 6}, {8, 4}, {4, 12}, {9, 9}} {
		n, m := size[0], size[1]
		cost := mat.NewDense(n, m, nil)
		for i := range n {
			for j := range m {
				cost.Set(i, j, float64(rng.IntN(4)))
			}
		}
		supply, demand := count(dense.Uniform(n)), count(dense.Uniform(m))
		balance(supply, demand)
		tree := newBasis(newSubproblem(supply, demand, cost))
		for pivots := 0; ; pivots++ {
			for k := range n + m - 1 {
				if tree.flow[k] != 0 {
					continue
				}
				empty++
				if !tree.isSource(k) {
					t.Fatalf("%d×%d, after %d pivots: the arc of sink %d has no flow and leads from the root", n, m, pivots, k-n)
				}
			}
			arc := tree.entering()
			if arc < 0 {
				break
			}
			tree.pivot(arc)
		}
	}
	if empty == 0 {
		t.Error("no arc was without flow: nothing is tested")
	}
}
