package hedge

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"mars.dev/mars/stages/algorithms/gate"
	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
	"mars.dev/mars/stages/algorithms/labelshift"
)

// An Interval bounds the target's share of each class.
type Interval struct {
	// Level is the probability with which each holds the true share.
	Level float64
	// Lower and Upper have C values from 0 to 1.
	Lower, Upper []float64
}

// IntervalOptions are the options of an interval. The zero value is usable.
type IntervalOptions struct {
	Level      float64 // 0 means 0.9
	Replicates int     // of the bootstrap; 0 means 200. Thin classes (Evidence.Thin) get a quarter
}

const (
	defaultLevel = 0.9
	// Target rows that replicates look at, at most: as many, or those of so many posteriors.
	replicateRows, replicateValues = 2_000, 1 << 20
	replicateTolerance             = 1e-4
	// Where classes are thin and overlap, EM would take all its steps in each replicate, most of the
	// time of a fit. With a quarter of the replicates, and a fifth of the steps, the intervals of 300
	// classes, of which 4 % of the labels were right, were 4 % narrower.
	thinPart      = 4
	thinSteps     = 60
	shareExponent = 0.25
	minDeviation  = 1e-3
)

// IntervalAt puts bounds of a level around Proportions, of a model that has Sampling. The variance of a share is the sum of three:
// that of a bootstrap over the target's rows, the weighted variance of the views' shares,
// and the square of the class' part of the expected error, which is in proportion to
// (p(1−p))^¼, with the factor that lets intervals hold on the tasks of the fit (gate.Gate.Width).
// A part of the rows of which nothing is known may be of any class.
func (m *Model) IntervalAt(level float64) *Interval {
	return around(m.Proportions, m.Views, m.Evidence, m.Sampling, level)
}

// GroupsAt are the bounds of a level around the sums of Proportions by Groups, of a model that has
// GroupSampling. They are made as those of the classes are, of what is known of sums: replicates and
// views are summed. The classes' errors are taken for independent, and that of a sum is that of the rest.
func (m *Model) GroupsAt(level float64) []*Interval {
	var all []*Interval
	errors := ofError(m.Proportions, gate.Default().Width*m.Evidence.ExpectedError)
	for l, of := range m.Groups {
		mean, added := sums(of, m.Proportions), sums(of, errors)
		for g, inside := range added {
			added[g] = max(0, min(inside, dense.Sum(errors)-inside))
		}
		for _, v := range m.Views {
			addSpread(added, v.Weight, sums(of, v.Proportions), mean)
		}
		all = append(all, bounds(mean, added, m.Evidence, m.GroupSampling[l], level))
	}
	return all
}

// sums are those of values of the classes by group.
func sums(of []int, values []float64) []float64 {
	all := make([]float64, slices.Max(of)+1)
	for k, v := range values {
		all[of[k]] += v
	}
	return all
}

// sample is the variance of the bootstrap over the target's rows, of the classes' shares and of the
// groups'.
func (m *Model) sample(ctx context.Context, f *fit, posteriors []blas32.General, o IntervalOptions) ([]float64, [][]float64, error) {
	o.Level, o.Replicates = cmp.Or(o.Level, defaultLevel), cmp.Or(o.Replicates, 200)
	if !(o.Level > 0 && o.Level < 1) || o.Replicates < 2 {
		return nil, nil, fmt.Errorf("hedge: an interval of level %v by %d replicates: give a level between 0 and 1 and at least 2 replicates", o.Level, o.Replicates)
	}
	if f.thin {
		o.Replicates = max(2, o.Replicates/thinPart)
	}
	return m.bootstrap(ctx, f, posteriors, o.Replicates)
}

// around puts the bounds of a level around the mean of the views' shares, of which the rows
// at hand leave open the variances sampling.
func around(mean []float64, views []View, e Evidence, sampling []float64, level float64) *Interval {
	return bounds(mean, variance(mean, mean, views, e), e, sampling, level)
}

// bounds are around shares with these variances.
func bounds(mean, added []float64, e Evidence, sampling []float64, level float64) *Interval {
	z := distuv.UnitNormal.Quantile((1 + level) / 2)
	v := &Interval{Level: level, Lower: make([]float64, len(mean)), Upper: make([]float64, len(mean))}
	for k, p := range mean {
		variance := sampling[k] + added[k]
		v.Lower[k], v.Upper[k] = max(0, p-z*math.Sqrt(variance)), min(1, p+z*math.Sqrt(variance))
	}
	labelshift.Widen(v.Lower, v.Upper, 1-(1-e.Unknown)*(1-e.Missing))
	return v
}

// Variance is what the model, and not the rows, adds to the variance of each of the shares
// (C) of rows that have moved as its target has: see interval.
func (m *Model) Variance(shares []float64) []float64 {
	return variance(shares, m.Proportions, m.Views, m.Evidence)
}

// variance is what views and doubt add to the variance of each of the shares, where the views'
// own have this mean.
func variance(shares, mean []float64, views []View, e Evidence) []float64 {
	added := ofError(shares, gate.Default().Width*e.ExpectedError)
	for _, v := range views {
		addSpread(added, v.Weight, v.Proportions, mean)
	}
	return added
}

// Spread is what an expected L1 error, and the views, add to the variance of each share of a mean of
// views with these weights. cmd/internal/fitgate fits gate.Gate.Width with it.
func Spread(s gate.Signs, weights []float64, expected float64) []float64 {
	mean := s.Mean(weights)
	added := ofError(mean, expected)
	for i, v := range s.Views {
		addSpread(added, weights[i], v.Proportions, mean)
	}
	return added
}

func addSpread(added []float64, weight float64, shares, mean []float64) {
	for k, p := range mean {
		added[k] += weight * (shares[k] - p) * (shares[k] - p)
	}
}

// ofError are the squares of the classes' parts of an expected L1 error.
func ofError(shares []float64, expected float64) []float64 {
	parts, sum := make([]float64, len(shares)), 0.0
	for k, p := range shares {
		parts[k] = math.Pow(max(p*(1-p), minShare), shareExponent)
		sum += parts[k]
	}
	for k := range parts {
		parts[k] = math.Pow(expected*parts[k]/sum, 2) + minDeviation*minDeviation
	}
	return parts
}

// bootstrap returns the variance of each share of the mean over replicates of the
// target's rows (Rubin 1981: independent exponential weights). In each, EM goes on from
// the views' posteriors, whose densities stay.
func (m *Model) bootstrap(ctx context.Context, f *fit, posteriors []blas32.General, replicates int) (variances []float64, ofGroups [][]float64, err error) {
	index := dense.Sample(f.target.Rows, min(replicateRows, replicateValues/f.classes), f.random(streamReplicates))
	views := make([]*labelshift.EMRows, len(posteriors))
	for i, p := range posteriors {
		if m.Views[i].Weight < minWeight {
			continue
		}
		if views[i], err = labelshift.NewEMRows(dense.Gather(p, index)); err != nil {
			return nil, nil, err
		}
	}
	shares := make([][]float64, f.classes) // by class and replicate
	for k := range shares {
		shares[k] = make([]float64, replicates)
	}
	steps := emSteps
	if f.thin {
		steps = thinSteps
	}
	err = kernel.Each(replicates, func(b int) error {
		weights := make([]float64, len(index))
		rng := rand.New(rand.NewPCG(f.Seed, streamReplicates+1+uint64(b)))
		for i := range weights {
			weights[i] = rng.ExpFloat64()
		}
		for i, v := range m.Views {
			if views[i] == nil {
				continue
			}
			p, err := replicate(ctx, views[i], v, weights, steps)
			if err != nil {
				return err
			}
			for k, s := range p {
				shares[k][b] += v.Weight * s
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	part := float64(len(index)) / float64(f.target.Rows)
	for _, of := range m.Groups {
		summed := make([][]float64, slices.Max(of)+1)
		for g := range summed {
			summed[g] = make([]float64, replicates)
		}
		for k, s := range shares {
			floats.Add(summed[of[k]], s)
		}
		ofGroups = append(ofGroups, variancesOf(summed, part))
	}
	return variancesOf(shares, part), ofGroups, nil
}

// variancesOf are those of rows of values, times a part.
func variancesOf(rows [][]float64, part float64) []float64 {
	variances := make([]float64, len(rows))
	for k, row := range rows {
		variances[k] = stat.Variance(row, nil) * part
	}
	return variances
}

// replicate returns a view's proportions of weighted rows, by at most so many steps of EM.
func replicate(ctx context.Context, rows *labelshift.EMRows, v View, weights []float64, steps int) ([]float64, error) {
	o := labelshift.EMOptions{Weights: weights, Iterations: steps, Tolerance: replicateTolerance}
	if v.belief().still {
		o.Iterations = 1
	}
	shares := make([]float64, len(v.Proportions))
	for k, p := range v.Proportions {
		shares[k] = max(p, minShare)
	}
	dense.Normalize(shares)
	e, err := rows.EM(ctx, shares, o)
	if err != nil {
		return nil, err
	}
	return e.Proportions, nil
}
