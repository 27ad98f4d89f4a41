package ensemble

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/discriminant"
)

// discriminantKind is the member that stands for all where classes are crowded.
var discriminantKind = kind{name: "discriminant", train: (*Tuned).trainDiscriminant, get: getLinear}

// Rows are thin if classes are more than thinClasses, and more than thinRatio times as many as each
// has rows on average. Thin classes that are more than crowdedClasses are crowded: what the other
// members cost grows with classes times rows. Of fewer they cost seconds, and are better on most
// real tables.
const (
	thinClasses    = 64
	thinRatio      = 10
	crowdedClasses = 400
)

// Thin reports whether so many rows are few for so many classes, of all that have rows.
func Thin(rows, classes int) bool {
	return classes > thinClasses && classes*classes > thinRatio*rows
}

// Crowded reports whether so many classes, of all that have rows, are crowded in so many rows. Then
// an ensemble whose members nobody chose is a linear discriminant, and no bias of a class is
// calibrated.
func Crowded(rows, classes int) bool { return classes > crowdedClasses && Thin(rows, classes) }

// trainDiscriminant is linear discriminant analysis, calibrated by a temperature.
func (t *Tuned) trainDiscriminant(ctx context.Context, x blas32.General, labels []int32) (scorer, error) {
	m, err := discriminant.Fit(ctx, x, labels, t.Classes, discriminant.Options{Temperature: t.temperature})
	if err != nil {
		return nil, err
	}
	return linear{m}, nil
}
