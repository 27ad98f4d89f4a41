package ranktest

import (
	"cmp"
	"slices"
)

// Ranks returns the rank of each value, from 1 for the least. Values that are equal share
// the mean of their ranks.
func Ranks(values []float64) []float64 {
	ranks := make([]float64, len(values))
	eachTie(values, func(tied []int, rank float64) {
		for _, i := range tied {
			ranks[i] = rank
		}
	})
	return ranks
}

// eachTie calls f with the places of values that are equal, and their rank, the least first.
func eachTie(values []float64, f func(tied []int, rank float64)) {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	for lo := 0; lo < len(order); {
		hi := lo + 1
		for hi < len(order) && values[order[hi]] == values[order[lo]] {
			hi++
		}
		f(order[lo:hi], float64(lo+1+hi)/2)
		lo = hi
	}
}

// ties is Σ t³ − t over the groups of t equal values.
func ties(values []float64) (sum float64) {
	eachTie(values, func(tied []int, _ float64) {
		t := float64(len(tied))
		sum += t*t*t - t
	})
	return sum
}

// Holm returns p-values that are corrected for being several (Holm 1979): those below a
// level are below it together.
func Holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	corrected, greatest := make([]float64, len(p)), 0.0
	for i, at := range order {
		greatest = max(greatest, min(1, float64(len(p)-i)*p[at]))
		corrected[at] = greatest
	}
	return corrected
}
