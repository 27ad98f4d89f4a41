package unmix

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
	"mars.dev/mars/stages/algorithms/labelshift"
)

// amounts are of rows that count or measure how much there is of many things alike, such as RNA of genes or light of
// bands. What one machine sees of a thing another sees in another proportion, so that errors are taken to be in
// proportion to the amount. Only columns that mark a class are looked at, as in others there is little but such
// errors; a row is any multiple of its mixture, on a background that is the same in all columns; and columns that fit
// badly count less (Huber, Annals of Mathematical Statistics 35 (1964) 73).
type amounts struct {
	width   int
	columns []int          // those that mark classes
	means   blas32.General // of each class in them (columns×C)
	little  float64        // the amount of which nothing is sure
}

// Chosen with whole families of data left out; docs/experiments/unmix.py measures what came of it.
const (
	leastColumns = 100   // of fewer, as a table of measurements in several units has, a covariance says more
	markers      = 300   // of all classes together
	leastMarkers = 2     // of each
	littleOfMean = 0.3   // the mean of all columns
	huber        = 1.345 // deviations: 95 % as efficient as least squares where errors are normal
	normalMAD    = 0.6745
	rounds       = 60
	fullSteps    = 5    // rounds after which steps are halved, as weights may go to and fro
	settled      = 1e-5 // of the sum
)

// areAmounts tells whether values are such.
func areAmounts(x blas32.General) bool { return x.Cols >= leastColumns && checkAmounts(x) == nil }

// checkAmounts refuses rows that cannot be amounts, such as those that were standardised where the source was not.
func checkAmounts(x blas32.General) error {
	for i := range x.Rows {
		for j, v := range dense.Row(x, i) {
			if v < 0 {
				return fmt.Errorf("unmix: row %d: feature %d is %g, but the source has amounts, none below 0: "+
					"give the target as the source is (write 0 for what is below 0 by noise alone)", i+1, j+1, v)
			}
		}
	}
	return nil
}

// newAmounts looks at classes with these means (classes×columns).
func newAmounts(means *mat.Dense) *amounts {
	classes, d := means.Dims()
	a := &amounts{width: d, little: littleOfMean * mat.Sum(means) / float64(classes*d)}
	a.columns = marking(means, a.little)
	a.means = dense.New(len(a.columns), classes)
	for i, j := range a.columns {
		for k := range classes {
			dense.Row(a.means, i)[k] = float32(means.At(k, j))
		}
	}
	return a
}

// marking are the columns that are the most above the others' mean in some class, on a scale of logarithms.
func marking(means *mat.Dense, little float64) []int {
	classes, d := means.Dims()
	logs, sums := mat.NewDense(classes, d, nil), make([]float64, d)
	logs.Apply(func(_, _ int, v float64) float64 { return math.Log(little + v) }, means)
	for k := range classes {
		floats.Add(sums, logs.RawRowView(k))
	}
	var all []int
	for k := range classes {
		above, order := make([]float64, d), make([]int, d)
		for j, v := range logs.RawRowView(k) {
			above[j], order[j] = v-(sums[j]-v)/float64(classes-1), j
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(above[b], above[a]), cmp.Compare(a, b)) })
		all = append(all, order[:min(max(markers/classes, leastMarkers), d)]...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// gram has the products of the classes' means, each of length 1.
func (a *amounts) gram() *mat.Dense {
	g := mat.NewDense(a.means.Cols, a.means.Cols, nil)
	g.Apply(func(i, j int, _ float64) float64 {
		var both, first, second float64
		for r := range a.means.Rows {
			u, v := float64(dense.Row(a.means, r)[i]), float64(dense.Row(a.means, r)[j])
			both, first, second = both+u*v, first+u*u, second+v*v
		}
		return both / math.Sqrt(first*second)
	}, g)
	return g
}

// predict returns the shares in each of the rows of x.
func (a *amounts) predict(ctx context.Context, x, p blas32.General) error {
	if err := checkAmounts(x); err != nil {
		return err
	}
	design := a.design()
	return kernel.Each(x.Rows, func(i int) error {
		row := make([]float64, len(a.columns))
		for c, j := range a.columns {
			row[c] = float64(dense.Row(x, i)[j])
		}
		shares, err := a.shares(design, row)
		if err != nil {
			return fmt.Errorf("unmix: row %d: %w", i+1, err)
		}
		for k, s := range shares {
			dense.Row(p, i)[k] = float32(s)
		}
		return ctx.Err()
	})
}

// design has the classes' means as columns, and behind them the background: the same everywhere.
func (a *amounts) design() *mat.Dense {
	n, classes := a.means.Rows, a.means.Cols
	design := mat.NewDense(n, classes+1, nil)
	for i := range n {
		for k, v := range dense.Row(a.means, i) {
			design.Set(i, k, float64(v))
		}
	}
	level := mat.Sum(design) / float64(classes*n)
	for i := range n {
		design.Set(i, classes, level)
	}
	return design
}

// shares are those of a row, of which the marking columns are given. A row with nothing in them says nothing, and
// gets the same share of each class.
func (a *amounts) shares(design *mat.Dense, row []float64) ([]float64, error) {
	classes := a.means.Cols
	total := floats.Sum(row)
	if !(total > 0) {
		return dense.Uniform(classes), nil
	}
	level := design.At(0, classes)
	for i := range row {
		row[i] *= level * float64(len(row)) / total
	}
	z := append(dense.Uniform(classes), 0)
	for round := range rounds {
		next, err := a.step(design, row, z)
		if err != nil {
			return nil, err
		}
		sum := floats.Sum(next[:classes])
		if !(sum > 0) { // it is all background
			break
		}
		step := 1.0
		if round >= fullSteps {
			step = .5
		}
		moved := 0.0
		for k, v := range next {
			moved = max(moved, math.Abs(v-z[k]))
			z[k] += step * (v - z[k])
		}
		if moved <= settled*sum {
			break
		}
	}
	dense.Normalize(z[:classes])
	return z[:classes], nil
}

// step is least squares with the weights that what z says of the row gives.
func (a *amounts) step(design *mat.Dense, row, z []float64) ([]float64, error) {
	n, d := design.Dims()
	off, deviation := make([]float64, n), make([]float64, n)
	for i, v := range row {
		fitted := floats.Dot(design.RawRowView(i), z)
		deviation[i] = fitted + a.little*floats.Sum(z[:d-1])
		off[i] = math.Abs(v-fitted) / deviation[i]
	}
	most := huber * dense.Median(slices.Clone(off)) / normalMAD
	g, h := mat.NewDense(d, d, nil), make([]float64, d)
	for i, v := range row {
		weight := 1 / (deviation[i] * deviation[i])
		if off[i] > most {
			weight *= most / off[i]
		}
		values := design.RawRowView(i)
		floats.AddScaled(h, weight*v, values)
		for k, u := range values {
			floats.AddScaled(g.RawRowView(k), weight*u, values)
		}
	}
	return labelshift.NonnegativeQuadratic(g, h)
}
