package ppi

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Known intervals that this package's are compared with.

// ClopperPearson is the exact interval of a share of which so many of n uniform draws were
// hits (Clopper & Pearson 1934). It holds the share with a probability of level at least,
// whatever the share is. Draws without replacement only make it safer.
func ClopperPearson(hits, n int, level float64) Interval {
	v, tail := Interval{0, 1}, (1-level)/2
	if hits > 0 {
		v.Lower = mathext.InvRegIncBeta(float64(hits), float64(n-hits+1), tail)
	}
	if hits < n {
		v.Upper = mathext.InvRegIncBeta(float64(hits+1), float64(n-hits), 1-tail)
	}
	return v
}

// Wilson is the score interval of a share (Wilson 1927), without a correction for continuity.
// It is narrower than the exact one and holds the share with a probability of about level.
func Wilson(hits, n int, level float64) Interval {
	if n == 0 {
		return Interval{0, 1}
	}
	z, m := normalQuantile(level), float64(n)
	p := float64(hits) / m
	middle, half := p+z*z/(2*m), z*math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return Interval{max(0, (middle-half)/(1+z*z/m)), min(1, (middle+half)/(1+z*z/m))}
}

// Moments are the mean and the variance of predictions over many rows.
type Moments struct {
	Rows           int
	Mean, Variance float64
}

// Normal is the normal interval of PPI++ (Angelopoulos, Duchi & Zrnic 2023) for the mean of y
// over all rows, and its middle: the predictions' mean over all rows times lambda, and the mean
// of w(y − lambda f) over the labelled rows, which have the predictions f and the weights w (nil:
// 1). It is made for many labelled rows, of which none counts for much: of a class of which there
// are few it holds the share far too seldom, for which Difference is made.
func Normal(y, f, w []float64, all Moments, lambda, level float64) (estimate float64, v Interval) {
	n := float64(len(y))
	sum, squares := 0.0, 0.0
	for i := range y {
		e := y[i] - lambda*f[i]
		if w != nil {
			e *= w[i]
		}
		sum += e
		squares += e * e
	}
	rectifier := sum / n
	variance := lambda*lambda*all.Variance/float64(all.Rows) + max(0, squares/n-rectifier*rectifier)/n
	estimate = lambda*all.Mean + rectifier
	half := normalQuantile(level) * math.Sqrt(variance)
	return estimate, Interval{estimate - half, estimate + half}
}
