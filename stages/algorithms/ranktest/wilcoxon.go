package ranktest

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// maxExact is the number of differences up to which the distribution of the statistic is
// counted: 2^50 sums of ranks are still exact in float64.
const maxExact = 50

// Wilcoxon is the signed-rank test of paired differences, whose null hypothesis is that
// they are symmetric around 0.
type Wilcoxon struct {
	N        int     // differences that are not 0
	Zeros    int     // differences of 0
	Positive float64 // sum of the ranks of positive differences
	Negative float64 // and of negative ones
	P        float64 // two-sided
	Exact    bool    // P is counted, not by the normal approximation
}

// SignedRanks returns the test of differences. Zeros get ranks, which are then left out
// (Pratt 1959). P is exact up to 50 differences, with ties and zeros too, and the normal
// approximation beyond. If all differences are 0, P is 1. A difference that is not finite is
// an error.
func SignedRanks(differences []float64) (Wilcoxon, error) {
	var w Wilcoxon
	sizes := make([]float64, len(differences))
	for i, d := range differences {
		if math.IsNaN(d) || math.IsInf(d, 0) {
			return w, errors.New("ranktest: a difference is not finite")
		}
		sizes[i] = math.Abs(d)
	}
	ranks := Ranks(sizes)
	var used []float64
	for i, d := range differences {
		switch {
		case d > 0:
			w.Positive += ranks[i]
		case d < 0:
			w.Negative += ranks[i]
		default:
			w.Zeros++
			continue
		}
		used = append(used, ranks[i])
	}
	w.N = len(used)
	switch {
	case w.N == 0:
		w.P, w.Exact = 1, true
	case w.N <= maxExact:
		w.P, w.Exact = exactP(used, min(w.Positive, w.Negative)), true
	default:
		w.P = normalP(used, w.Positive)
	}
	return w, nil
}

// exactP is the two-sided p-value of a sum of ranks, each of which is in it with
// probability ½. Ranks are halves of whole numbers.
func exactP(ranks []float64, least float64) float64 {
	total := 0
	for _, r := range ranks {
		total += int(2 * r)
	}
	sums := make([]float64, total+1) // by twice the sum, how many choices of ranks have it
	sums[0] = 1
	reached := 0
	for _, r := range ranks {
		step := int(2 * r)
		for s := reached; s >= 0; s-- {
			sums[s+step] += sums[s]
		}
		reached += step
	}
	below := 0.0
	for s := 0; s <= int(2*least); s++ {
		below += sums[s]
	}
	return min(1, math.Ldexp(2*below, -len(ranks)))
}

// normalP is the same by the normal approximation, with its variance as the ranks are.
func normalP(ranks []float64, positive float64) float64 {
	sum, squares := 0.0, 0.0
	for _, r := range ranks {
		sum += r
		squares += r * r
	}
	z := (positive - sum/2) / math.Sqrt(squares/4)
	return min(1, 2*distuv.UnitNormal.Survival(math.Abs(z)))
}

// MinPairs is the least number of differences with which SignedRanks can have a p-value
// below level.
func MinPairs(level float64) int {
	n := 1
	for math.Ldexp(2, -n) >= level && n < maxExact {
		n++
	}
	return n
}
