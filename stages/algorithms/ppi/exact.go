package ppi

import (
	"math"
	"sort"
)

// Exact is the interval of a share of total rows, of which n were drawn uniformly without
// replacement, and so many of these were hits at least and at most: of the others nobody knows. It
// is Clopper & Pearson's (1934) with the law of draws without replacement: all numbers of hits
// among the rows that neither tail of the hypergeometric distribution excludes. It holds the share
// with a probability of level at least, whatever the share is and whatever the unknown ones are.
func Exact(least, most, n, total int, level float64) Interval {
	if n == 0 {
		return Interval{0, 1}
	}
	alpha, first, last := (1-level)/2, least, total-(n-most)
	// With the number of hits among the rows, many draws with hits become likelier, few rarer.
	low := first + sort.Search(last-first, func(k int) bool { return tail(least, n, first+k, total, 1) > alpha*(1-1e-9) })
	high := last - sort.Search(last-first, func(k int) bool { return tail(most, n, last-k, total, -1) > alpha*(1-1e-9) })
	return Interval{float64(low) / float64(total), float64(high) / float64(total)}
}

// tail is the probability that of n of total rows, of which k are hits, x are: or more, if step is
// 1, or fewer, if it is −1.
func tail(x, n, k, total, step int) float64 {
	p := math.Exp(logChoose(k, x) + logChoose(total-k, n-x) - logChoose(total, n))
	sum := p
	for j := x; p > 0; j += step {
		if step == 1 {
			p *= float64(k-j) * float64(n-j) / (float64(j+1) * float64(total-k-n+j+1))
		} else {
			p *= float64(j) * float64(total-k-n+j) / (float64(k-j+1) * float64(n-j+1))
		}
		if p < sum*1e-17 {
			break
		}
		sum += p
	}
	return min(sum, 1)
}

// logChoose is the logarithm of the number of ways to choose b of a.
func logChoose(a, b int) float64 {
	if b < 0 || b > a {
		return math.Inf(-1)
	}
	sum := 0.0
	for i := range min(b, a-b) {
		sum += math.Log(float64(a-i) / float64(i+1))
	}
	return sum
}
