package ppi

import "math"

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
