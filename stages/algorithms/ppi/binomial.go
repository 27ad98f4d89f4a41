package ppi

import (
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// An Interval bounds a share, from 0 to 1.
type Interval struct {
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
}

// Width is how far the bounds are apart.
func (v Interval) Width() float64 { return v.Upper - v.Lower }

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

// normalQuantile is how many standard deviations a normal value is from its mean, at most, with
// a probability of level.
func normalQuantile(level float64) float64 { return distuv.UnitNormal.Quantile((1 + level) / 2) }

// Bonferroni is the level at which each class's interval has to be made for all to hold at once
// with a probability of level. Those of two classes are one statement.
func Bonferroni(level float64, classes int) float64 {
	if classes <= 2 {
		return level
	}
	return 1 - (1-level)/float64(classes)
}
