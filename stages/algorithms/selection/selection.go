// Package selection finds the value at a place of the order without sorting all.
package selection

import "cmp"

// Nth is the value that would stand at place k, from 0, if values were sorted (Hoare 1961,
// Algorithm 65: Find). It changes their order, and puts no greater ones before it. None of
// them may be NaN.
func Nth[T cmp.Ordered](values []T, k int) T {
	for lo, hi := 0, len(values)-1; lo < hi; {
		pivot, i, j := values[lo+(hi-lo)/2], lo, hi
		for i <= j {
			for values[i] < pivot {
				i++
			}
			for values[j] > pivot {
				j--
			}
			if i <= j {
				values[i], values[j] = values[j], values[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return values[k]
		}
	}
	return values[k]
}
