package label

import (
	"cmp"
	"math"
	"slices"

	"mars.dev/mars/arrowio"
)

const (
	mostMoved = 6    // columns that are shown
	chance    = 0.01 // probability that any column is taken for one that differs where none does
)

// Moved is a column in which source and target differ.
type Moved struct {
	Name           string
	Distance       float64   // of Kolmogorov & Smirnov, 0 to 1
	Source, Target []float64 // values of samples, in order
}

// Sampled is how many rows of each domain are in the samples that Moved compares.
func (v *Values) Sampled() (source, target int) {
	return len(v.samples[arrowio.SourceDomain].rows), len(v.samples[arrowio.TargetDomain].rows)
}

// Moved are the columns in which source and target differ most, at most six, the largest difference first:
// those that differ by more than chance explains, by the bound of Dvoretzky, Kiefer & Wolfowitz (1956) with
// the constant of Massart (1990) for each of all columns and domains.
func (v *Values) Moved() (columns []Moved) {
	n, m := v.Sampled()
	if n == 0 || m == 0 {
		return nil
	}
	wide := math.Log(4*float64(len(v.Names))/chance) / 2
	least := math.Sqrt(wide/float64(n)) + math.Sqrt(wide/float64(m))
	for j, name := range v.Names {
		source, target := v.sorted(arrowio.SourceDomain, j), v.sorted(arrowio.TargetDomain, j)
		if d := distance(source, target); d > least {
			columns = append(columns, Moved{name, d, source, target})
			slices.SortStableFunc(columns, func(a, b Moved) int { return cmp.Compare(b.Distance, a.Distance) })
			columns = columns[:min(len(columns), mostMoved)]
		}
	}
	return columns
}

// sorted are the values of a column in the sample of a domain, in order.
func (v *Values) sorted(d arrowio.Domain, column int) (values []float64) {
	for _, row := range v.samples[d].rows {
		values = append(values, v.Of(row, column))
	}
	slices.Sort(values)
	return values
}

// distance is that of Kolmogorov & Smirnov of values in order: by how much the shares of those up to a value
// differ at most.
func distance(a, b []float64) (most float64) {
	for i, k := 0, 0; i < len(a) && k < len(b); {
		x := min(a[i], b[k])
		for i < len(a) && a[i] == x {
			i++
		}
		for k < len(b) && b[k] == x {
			k++
		}
		most = max(most, math.Abs(float64(i)/float64(len(a))-float64(k)/float64(len(b))))
	}
	return most
}
