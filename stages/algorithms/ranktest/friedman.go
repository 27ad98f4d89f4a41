package ranktest

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// Friedman says whether some of k methods rank better than others over n tasks.
type Friedman struct {
	Ranks      []float64 // mean rank of each method, from 1 for the least value
	ChiSquared float64   // Friedman's statistic, corrected for ties
	P          float64   // of ChiSquared, k−1 degrees of freedom
	F          float64   // Iman's and Davenport's; +Inf if all tasks rank the methods alike
	PF         float64   // of F, k−1 and (k−1)(n−1) degrees of freedom
}

// CompareRanks returns the test of values with a row for each task and a column for each
// method. It fails with fewer than 2 tasks or 3 methods, or if the rows differ in length. If
// all values of each task are equal, both p-values are 1.
func CompareRanks(tasks [][]float64) (*Friedman, error) {
	n := len(tasks)
	if n < 2 || len(tasks[0]) < 3 {
		return nil, errors.New("ranktest: Friedman's test needs at least 2 tasks and 3 methods")
	}
	k := len(tasks[0])
	f, tied := &Friedman{Ranks: make([]float64, k)}, 0.0
	for _, values := range tasks {
		if len(values) != k {
			return nil, fmt.Errorf("ranktest: a task has values of %d methods, and another of %d", len(values), k)
		}
		for j, r := range Ranks(values) {
			f.Ranks[j] += r / float64(n)
		}
		tied += ties(values)
	}
	nf, kf := float64(n), float64(k)
	spread := 0.0
	for _, r := range f.Ranks {
		spread += (r - (kf+1)/2) * (r - (kf+1)/2)
	}
	correction := 1 - tied/(nf*kf*(kf*kf-1))
	if correction <= 0 {
		f.P, f.PF = 1, 1
		return f, nil
	}
	f.ChiSquared = 12 * nf / (kf * (kf + 1)) * spread / correction
	f.P = distuv.ChiSquared{K: kf - 1}.Survival(f.ChiSquared)
	rest := nf*(kf-1) - f.ChiSquared
	if rest <= rounding*nf*kf {
		f.F = math.Inf(1)
		return f, nil
	}
	f.F = (nf - 1) * f.ChiSquared / rest
	d1, d2 := kf-1, (kf-1)*(nf-1)
	f.PF = mathext.RegIncBeta(d2/2, d1/2, d2/(d2+d1*f.F)) // distuv.F has 1 − CDF, which is 0 or 1e-16
	return f, nil
}

// rounding is the relative error of sums that should be equal.
const rounding = 1e-12

// CriticalDifference is how far apart the mean ranks of two of k methods over n tasks have
// to be to differ at a level, all pairs together (Nemenyi 1963).
func CriticalDifference(k, n int, level float64) float64 {
	return rangeQuantile(k, 1-level) * math.Sqrt(float64(k*(k+1))/float64(12*n))
}
