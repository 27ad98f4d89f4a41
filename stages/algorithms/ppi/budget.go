package ppi

import (
	"math"
	"sort"
)

// Doubt is the size of a row by its posteriors p: √(1 − Σₖ pₖ²) for the shares of all classes
// (class < 0), √(p(1−p)) for that of one.
func Doubt(p []float32, class int) float64 {
	if class >= 0 {
		q := float64(p[class])
		return math.Sqrt(max(0, q*(1-q)))
	}
	rest := 1.0
	for _, q := range p {
		rest -= float64(q) * float64(q)
	}
	return math.Sqrt(max(0, rest))
}

// A Forecast is what is to be expected of labels, by the posteriors of all rows.
type Forecast struct {
	Posteriors [][]float32 // N×C
	Sizes      []float64   // N
	// Accuracy is the share of the labels that is expected to be right; NaN: what the
	// posteriors say.
	Accuracy float64
	Level    float64
	Class    int // whose interval matters; below 0: that of every class
	Uniform  bool
}

// leastBudget is the least number of rows that Draws advises.
const leastBudget = 10

// Draws is the least number of rows, leastBudget at least, of which intervals of this width at most
// are to be expected, if the model is right as often as it expects; all rows if nothing less will do.
func (f *Forecast) Draws(width float64) int {
	n := len(f.Posteriors)
	least := min(leastBudget, n)
	return least + sort.Search(n-least, func(more int) bool { return f.width(least+more) <= width })
}

// width is that of the widest interval to be expected of so many draws.
func (f *Forecast) width(draws int) (widest float64) {
	n, classes, mix := float64(len(f.Posteriors)), len(f.Posteriors[0]), f.mix()
	uniform, chosen := Budget(draws, f.Uniform)
	inclusion := Inclusion(floored(f.Sizes), uniform, chosen)
	least := floor / float64(uniform)
	for k := range classes {
		if f.Class >= 0 && k != f.Class {
			continue
		}
		share, variance := 0.0, 0.0
		for i, p := range f.Posteriors {
			q := (1-mix)*float64(p[k]) + mix/float64(classes)
			variance += (1/inclusion[i] - 1) * q * (1 - q)
			share += float64(p[k])
		}
		variance = variance/(n*n) + least*least*(1-float64(draws)/n)
		widest = max(widest, jeffreysInterval(share/n, variance, draws, f.Level).Width())
	}
	return widest
}

// mix is how much of the posteriors is to be spread evenly, so that they are right as often as
// expected.
func (f *Forecast) mix() float64 {
	if math.IsNaN(f.Accuracy) {
		return 0
	}
	sure := 0.0
	for _, p := range f.Posteriors {
		most := 0.0
		for _, q := range p {
			most = max(most, float64(q))
		}
		sure += most
	}
	sure /= float64(len(f.Posteriors))
	return min(max((sure-f.Accuracy)/max(sure-1/float64(len(f.Posteriors[0])), 1e-9), 0), 1)
}
