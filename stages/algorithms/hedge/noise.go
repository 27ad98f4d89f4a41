package hedge

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/labelshift"
	"mars.dev/mars/stages/algorithms/prepare"
)

// Noise says that the target's rows are like the source's with noise of mean 0 added, that
// of each column by itself. The source of a model that has it was given the same noise
// before anything was learnt from it.
type Noise struct {
	// Columns is how many columns have noise.
	Columns int `json:"columns"`
	// Loudest is the column, from 0, whose noise is the largest part of its spread, and
	// Ratio the noise's standard deviation there by that within the source's classes.
	Loudest int     `json:"loudest"`
	Ratio   float64 `json:"ratio"`
	// Misfit is that of Stays without the noise; 0 where too few rows could be compared.
	Misfit float64 `json:"misfit_without"`

	deviations []float64 // of the noise, by column
}

const (
	noiseRounds = 2     // estimates of the noise, each with better proportions
	minNoise    = 0.1   // of the variance within classes, below which a column has no noise
	noisyLevels = 10    // a column of the target that has no more values has no noise
	noisyRows   = 3_000 // that a small source becomes by copies with noise of their own
	maxCopies   = 8
)

// listen finds noise that the target has and the source has not. Nothing but noise and new
// proportions may be between them: the source with the noise passes the test that the
// source without it fails. source and target are not prepared.
func (f *fit) listen(ctx context.Context, source, target blas32.General) (*Noise, error) {
	before := f.stays
	if !f.mayStay() || before.tested && before.Misfit < lastMisfit && before.New == 0 {
		return nil, nil
	}
	rows := dense.Sample(source.Rows, nearRows, f.random(streamNoise))
	trial := &fit{Options: f.Options, classes: f.classes, labels: dense.Pick(f.labels, rows), distinct: len(rows), thin: f.thin}
	source = dense.Gather(source, rows)
	target = dense.Gather(target, dense.Sample(target.Rows, nearRows, f.random(streamNoise)))
	var shares []float64
	for range noiseRounds {
		n, err := trial.noise(ctx, source, target, shares)
		if n == nil || err != nil {
			return nil, err
		}
		if err := trial.prepare(ctx, n.add(source, trial.random(streamNoise)()), target); err != nil {
			return nil, err
		}
		after := trial.stays
		switch {
		case !after.tested || before.tested && after.Misfit > max(before.Misfit, lastMisfit):
			return nil, nil
		case after.Misfit < firstMisfit && (!before.tested || after.New <= before.New/2):
			n.Misfit = before.Misfit
			return n, nil
		}
		shares = after.shares
	}
	return nil, nil
}

// mayStay reports whether a view that moves nothing may have weight.
func (f *fit) mayStay() bool {
	return f.Assume == nil || slices.ContainsFunc(f.Assume, func(name string) bool { return !(&View{Name: name}).moves() })
}

// noise is what the columns of the target vary more than those of a mixture of the source's
// classes with these shares; by the shares whose means are nearest the target's if they are
// nil, because noise does not move means. It is nil if there is none.
func (f *fit) noise(ctx context.Context, source, target blas32.General, shares []float64) (*Noise, error) {
	means, within := f.momentsOfClasses(source)
	mean, variance := momentsOf(target)
	if shares == nil {
		var err error
		if shares, err = nearestShares(ctx, means, mean, variance); err != nil {
			return nil, err
		}
	}
	n := &Noise{deviations: make([]float64, source.Cols)}
	for j := range n.deviations {
		own, middle, square := 0.0, 0.0, 0.0
		for k, p := range shares {
			if p > 0 {
				own += p * within[k][j]
				middle += p * means[k][j]
				square += p * means[k][j] * means[k][j]
			}
		}
		more := variance[j] - own - (square - middle*middle)
		if own == 0 || more < minNoise*own || dense.HasAtMost(noisyLevels, target, j) {
			continue
		}
		n.Columns++
		n.deviations[j] = math.Sqrt(more)
		if ratio := math.Sqrt(more / own); ratio > n.Ratio {
			n.Loudest, n.Ratio = j, ratio
		}
	}
	if n.Columns == 0 {
		return nil, nil
	}
	return n, nil
}

// momentsOfClasses returns the mean and the variance of each class in each column; nil for a
// class without rows.
func (f *fit) momentsOfClasses(x blas32.General) (means, variances [][]float64) {
	means, variances = make([][]float64, f.classes), make([][]float64, f.classes)
	rows := make([][]int, f.classes)
	for i, y := range f.labels {
		rows[y] = append(rows[y], i)
	}
	for k, of := range rows {
		if len(of) > 0 {
			means[k], variances[k] = momentsOf(dense.Gather(x, of))
		}
	}
	return means, variances
}

// momentsOf returns the mean and the variance of each column.
func momentsOf(x blas32.General) (mean, variance []float64) {
	mean, variance = dense.ColumnMeans(x), make([]float64, x.Cols)
	for i := range x.Rows {
		for j, v := range dense.Row(x, i) {
			d := float64(v) - mean[j]
			variance[j] += d * d / float64(x.Rows)
		}
	}
	return mean, variance
}

// nearestShares are those of the classes whose mixture's mean is nearest to a mean, in
// deviations of each column.
func nearestShares(ctx context.Context, means [][]float64, mean, variance []float64) ([]float64, error) {
	var present []int
	for k, of := range means {
		if of != nil {
			present = append(present, k)
		}
	}
	a, b := mat.NewDense(len(present), len(mean), nil), make([]float64, len(mean))
	for j, v := range variance {
		if v == 0 {
			continue
		}
		unit := 1 / math.Sqrt(v)
		b[j] = unit * mean[j]
		for c, k := range present {
			a.Set(c, j, unit*means[k][j])
		}
	}
	fitted, err := labelshift.NearestMixture(ctx, a, b, nil)
	if err != nil {
		return nil, err
	}
	shares := make([]float64, len(means))
	for c, k := range present {
		shares[k] = fitted[c]
	}
	return shares, nil
}

// add returns the rows with noise.
func (n *Noise) add(x blas32.General, rng *rand.Rand) blas32.General {
	y := dense.New(x.Rows, x.Cols)
	for i := range x.Rows {
		out := dense.Row(y, i)
		for j, v := range dense.Row(x, i) {
			if out[j] = v; n.deviations[j] > 0 {
				out[j] += float32(n.deviations[j] * rng.NormFloat64())
			}
		}
	}
	return y
}

// repeat returns noisy copies of the source, so many that there are about noisyRows rows, and
// repeats the labels.
func (f *fit) repeat(source blas32.General) blas32.General {
	copies, rng := max(1, min(maxCopies, noisyRows/source.Rows)), f.random(streamNoise)()
	all, labels := dense.New(0, source.Cols), f.labels
	for c := range copies {
		if c > 0 {
			f.labels = append(f.labels[:len(f.labels):len(f.labels)], labels...)
		}
		noisy := f.heard.add(source, rng)
		for i := range noisy.Rows {
			dense.Append(&all, dense.Row(noisy, i))
		}
	}
	return all
}

// prepare prepares the rows, and tests whether the classes have stayed.
func (f *fit) prepare(ctx context.Context, source, target blas32.General) (err error) {
	if f.mapping, err = prepare.Fit(ctx, source, f.Seed); err != nil {
		return err
	}
	f.source, f.target = f.mapping.Apply(source), f.mapping.Apply(target)
	if f.nearness, err = f.near(ctx); err != nil {
		return err
	}
	f.stays, err = f.testStays(ctx, f.nearness)
	return err
}
