package toy

import (
	"errors"
	"math"
	"math/rand/v2"
)

// Accuracy is what can be known before any method runs: balanced accuracies on
// the target, so the class balance does not matter.
type Accuracy struct {
	Possible   float64 // of the target's own Bayes rule with equal priors
	SourceRule float64 // of the source's Bayes rule, carried over unchanged
	StdError   float64 // of either, from the number of draws (at most)
}

// Bayes estimates both by drawing rows points of each class (0 is 100,000) from
// the target's Gaussians. It is an error where the variances are 0: a class
// then has no density, and no rule of this kind exists.
func Bayes(o Options, rows int) (Accuracy, error) {
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
	return o.bayes(rows), nil
}

func (o Options) bayes(rows int) Accuracy {
	deviation, target := o.deviations(), o.targetCentres()
	rng := rand.New(rand.NewPCG(o.Seed, 3))
	var own, carried int
	for c := range Classes {
		for range rows {
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
	return Accuracy{Possible: float64(own) / n, SourceRule: float64(carried) / n, StdError: 0.5 / math.Sqrt(n)}
}

// likeliest is the class of the largest Gaussian density at x.
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
