// Package transport matches the components of a target's mixture with the
// classes of the source, lines 2 to 4 of the paper's Algorithm 2. It also holds
// the optimal transport that this needs: Assign (one to one) and Exact (the
// discrete problem of the paper's equation (2) with any marginals).
//
// Everything is float64 and deterministic. Functions that take a context return
// ctx.Err() soon after it ends.
package transport

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// checkCost returns an error for a cost that is not finite.
func checkCost(cost *mat.Dense) error {
	rows, _ := cost.Dims()
	for i := range rows {
		for j, c := range cost.RawRowView(i) {
			if c-c != 0 {
				return fmt.Errorf("transport: cost of row %d, column %d is %v: give finite costs", i, j, c)
			}
		}
	}
	return nil
}
