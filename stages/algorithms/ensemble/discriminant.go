package ensemble

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/discriminant"
)

// discriminantName is the member that stands for all where classes are crowded.
const discriminantName = "discriminant"

// Classes are crowded if they are more than crowdedClasses, and more than crowdedRatio times as
// many as each has rows on average. What the other members cost grows with classes times rows, and
// the rows of a class are too few for what they could learn beyond a common covariance.
const (
	crowdedClasses = 64
	crowdedRatio   = 10
)

// Crowded reports whether so many classes, of all that have rows, are crowded in so many rows. Then
// an ensemble whose members nobody chose is a linear discriminant, and no bias of a class is
// calibrated.
func Crowded(rows, classes int) bool {
	return classes > crowdedClasses && classes*classes > crowdedRatio*rows
}

// discriminant is linear discriminant analysis, calibrated by a temperature.
func (t *Tuned) discriminant(temperature float64) trainer {
	return func(ctx context.Context, x blas32.General, labels []int32) (scorer, error) {
		m, err := discriminant.Fit(ctx, x, labels, t.Classes, discriminant.Options{Temperature: temperature})
		if err != nil {
			return nil, err
		}
		return linear{m}, nil
	}
}
