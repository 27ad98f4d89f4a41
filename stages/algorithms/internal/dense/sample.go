package dense

import (
	"math/rand/v2"
	"slices"
)

// Sample returns at most limit of the numbers 0 to n−1, drawn by rng without
// replacement and in rising order.
func Sample(n, limit int, rng func() *rand.Rand) []int {
	if n <= limit {
		index := make([]int, n)
		for i := range index {
			index[i] = i
		}
		return index
	}
	index := rng().Perm(n)[:limit]
	slices.Sort(index)
	return index
}
