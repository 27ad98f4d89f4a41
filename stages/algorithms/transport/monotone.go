package transport

import (
	"fmt"
	"math"
	"slices"
)

// Flow is mass that goes from one sample to another.
type Flow struct {
	From, To int
	Mass     float64
}

// Monotone returns the optimal transport between two weighted samples on the
// line, for every convex cost of the difference: both are sorted, and mass goes
// from quantile to quantile (Santambrogio 2015, section 2.2). x has the masses
// a and y the masses b; nil means equal masses that sum to 1. Their sums must
// agree as in Exact. There are at most len(x)+len(y)−1 flows, in the order of
// the line. Time is that of sorting.
//
// It fails if a sample is empty or not finite or the masses do not fit.
func Monotone(x, a, y, b []float64) ([]Flow, error) {
	for _, sample := range [][]float64{x, y} {
		if err := checkSample(sample); err != nil {
			return nil, err
		}
	}
	a, b = orUniform(a, len(x)), orUniform(b, len(y))
	if err := checkMarginals(a, b); err != nil {
		return nil, err
	}
	supply, demand := count(a), count(b)
	balance(supply, demand)
	order, yOrder := sortedIndex(x), sortedIndex(y)
	scale := sum(a) / whole
	var flows []Flow
	for i, j := 0, 0; i < len(order) && j < len(yOrder); {
		from, to := order[i], yOrder[j]
		mass := min(supply[from], demand[to])
		if mass > 0 {
			flows = append(flows, Flow{From: from, To: to, Mass: float64(mass) * scale})
		}
		supply[from] -= mass
		demand[to] -= mass
		if supply[from] == 0 {
			i++
		} else {
			j++
		}
	}
	return flows, nil
}

// Wasserstein1 returns the Wasserstein-1 distance of two weighted samples on
// the line, in units of x; arguments and errors are those of Monotone. Masses
// that do not sum to 1 are scaled.
func Wasserstein1(x, a, y, b []float64) (float64, error) {
	return monotoneCost(x, a, y, b, math.Abs)
}

// Wasserstein2 returns the Wasserstein-2 distance of two weighted samples on
// the line, in units of x; arguments and errors are those of Monotone. Masses
// that do not sum to 1 are scaled.
func Wasserstein2(x, a, y, b []float64) (float64, error) {
	squared, err := monotoneCost(x, a, y, b, func(d float64) float64 { return d * d })
	return math.Sqrt(squared), err
}

// monotoneCost returns the mean cost of the differences under Monotone.
func monotoneCost(x, a, y, b []float64, cost func(float64) float64) (float64, error) {
	flows, err := Monotone(x, a, y, b)
	if err != nil {
		return 0, err
	}
	total, mass := 0.0, 0.0
	for _, f := range flows {
		total += f.Mass * cost(x[f.From]-y[f.To])
		mass += f.Mass
	}
	return total / mass, nil
}

func checkSample(x []float64) error {
	if len(x) == 0 {
		return fmt.Errorf("transport: a sample is empty: give at least one value")
	}
	for i, v := range x {
		if v-v != 0 {
			return fmt.Errorf("transport: sample value %d is %v: give finite values", i, v)
		}
	}
	return nil
}

// orUniform returns masses or, if nil, n equal masses. It panics if their number
// is not n.
func orUniform(masses []float64, n int) []float64 {
	if masses == nil {
		return uniform(n)
	}
	if len(masses) != n {
		panic("transport: one mass a value is needed")
	}
	return masses
}

// uniform returns n equal masses that sum to 1.
func uniform(n int) []float64 {
	masses := make([]float64, n)
	for i := range masses {
		masses[i] = 1 / float64(n)
	}
	return masses
}

// sortedIndex returns the indices of the values of x in increasing order.
func sortedIndex(x []float64) []int {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case x[a] < x[b]:
			return -1
		case x[a] > x[b]:
			return 1
		}
		return 0
	})
	return order
}
