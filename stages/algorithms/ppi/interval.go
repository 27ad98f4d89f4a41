package ppi

import "gonum.org/v1/gonum/stat/distuv"

// An Interval bounds a share, from 0 to 1.
type Interval struct {
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
}

// Width is how far the bounds are apart.
func (v Interval) Width() float64 { return v.Upper - v.Lower }

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
