package toy

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
)

// Accuracy holds balanced accuracies on the target that follow from the problem
// alone. They do not depend on the class proportions.
type Accuracy struct {
	Possible   float64 // of the target's own Bayes rule with equal priors
	SourceRule float64 // of the source's Bayes rule, applied unchanged
	StdError   float64 // upper bound of the standard error of either
}

// Bayes estimates both by drawing points from the target's Gaussians, rows of
// each class (0 means 100,000). It fails if the variances are 0, because a class
// then has no density. It returns ctx.Err() if ctx ends.
func Bayes(ctx context.Context, o Options, rows int) (Accuracy, error) {
	o, err := o.filled()
	if err != nil {
		return Accuracy{}, err
	}
	if o.PublishedCodeVariances {
		return Accuracy{}, errors.New("toy: Bayes rule: the published code's variances are 0 along the second axis: take the paper's")
	}
	if rows == 0 {
		rows = 100_000
	}
	if rows < 0 {
		panic("toy: negative number of rows")
	}
	return o.bayes(ctx, rows)
}

func (o Options) bayes(ctx context.Context, rows int) (Accuracy, error) {
	deviation, target := o.deviations(), o.targetCentres()
	rng := rand.New(rand.NewPCG(o.Seed, 3))
	var own, carried int
	for c := range Classes {
		for i := range rows {
			if i%stepRows == 0 && ctx.Err() != nil {
				return Accuracy{}, ctx.Err()
			}
			var x [Dim]float64
			for a := range x {
				x[a] = target[c][a] + deviation[c][a]*rng.NormFloat64()
			}
			if likeliest(x, target, deviation) == c {
				own++
			}
			if likeliest(x, sourceCentres, deviation) == c {
				carried++
			}
		}
	}
	n := float64(Classes * rows)
	return Accuracy{Possible: float64(own) / n, SourceRule: float64(carried) / n, StdError: 0.5 / math.Sqrt(n)}, nil
}

// likeliest returns the class with the largest Gaussian density at x.
func likeliest(x [Dim]float64, centres, deviation [Classes][Dim]float64) int {
	best, bestLog := 0, math.Inf(-1)
	for c := range Classes {
		var logDensity float64
		for a := range x {
			z := (x[a] - centres[c][a]) / deviation[c][a]
			logDensity -= z*z/2 + math.Log(deviation[c][a])
		}
		if logDensity > bestLog {
			best, bestLog = c, logDensity
		}
	}
	return best
}
