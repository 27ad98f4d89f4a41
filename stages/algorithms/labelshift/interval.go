package labelshift

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// IntervalOptions are the options of intervals. The zero value is usable.
type IntervalOptions struct {
	// Level is the probability with which an interval is to hold the true
	// proportion; 0 means 0.9.
	Level float64
	// Replicates is how often the rows are weighted anew; 0 means 200, or fewer
	// for more than 10 classes, but 50: 2,000/C.
	Replicates int
	// Rows is how many target rows, and rows of each class of the source, take
	// part at most; the weights of a sample vary less in proportion. 0 means
	// 5,000, or fewer for many classes, but 1,000: 5·10⁷/C³.
	Rows int
	// Seed draws weights and samples.
	Seed uint64
}

// withDefaults depends on the number of classes, with whose cube times rows and
// replicates the time grows.
func (o IntervalOptions) withDefaults(classes int) (IntervalOptions, error) {
	setDefault(&o.Level, 0.9)
	setDefault(&o.Replicates, min(200, max(50, 2_000/classes)))
	setDefault(&o.Rows, min(5_000, max(1_000, 50_000_000/(classes*classes*classes))))
	if !(o.Level > 0 && o.Level < 1) {
		return o, fmt.Errorf("labelshift: the level of intervals is %v: give a number between 0 and 1", o.Level)
	}
	if o.Replicates < 2 || o.Rows < 1 {
		return o, fmt.Errorf("labelshift: %d replicates of %d rows: give at least two replicates", o.Replicates, o.Rows)
	}
	return o, nil
}

// Interval says how far the target's proportions may be from the estimate.
type Interval struct {
	// Level is the probability that each interval, and the region, promises.
	Level float64
	// Lower and Upper bound the share of each class: C values from 0 to 1.
	Lower, Upper []float64
	// Deviation is the standard deviation of each class' share: the root of the
	// sum of the squares of Bootstrap, what the rows at hand leave open, and
	// Model, how far off the model may be.
	Deviation, Bootstrap, Model []float64
	// ExpectedError is the L1 error, 0 to 2, that Deviation lets one expect.
	ExpectedError float64
	// Region bounds all shares together.
	Region *Region
}

const (
	// Threshold is the expected error above which proportions are not to be
	// believed, and Care that above which they are with care:
	// docs/measured/estimators.md has how often that was right.
	Threshold = 0.2
	Care      = 0.1
)

// Warnings are the doubts of an interval.
func (v *Interval) Warnings() []string {
	if v.ExpectedError <= Threshold {
		return nil
	}
	return []string{fmt.Sprintf("the proportions are expected to be off by %.2f in L1 (more than %.1f): check labels of some target rows before relying on them", v.ExpectedError, Threshold)}
}

// Interval returns intervals around the panel's proportions. To the variance of
// a bootstrap over the rows they add that of the model, without which they would
// be too narrow where it does not hold: the mean square of how far the members
// adapt and refit are off, which let the classes move as MTE does but in other
// ways, and the squares of relativeDeviation and leastDeviationOfShare, for what
// all of them take alike.
//
// The bootstrap is Rubin's (1981): each replicate weights all rows of both
// domains anew by independent exponential numbers, takes class means and
// covariances of the source anew, and takes EM steps until they end from where
// the panel's best start has led. The projection is kept, and of many rows a
// sample is used. Time grows with replicates, rows, C and the square of
// min(C−1, d).
//
// docs/measured/estimators.md has how often the intervals held the truth.
//
// It panics if Consult did not make the panel.
func (p *Panel) Interval(o IntervalOptions) (*Interval, error) {
	m := p.Members[0].match
	if m == nil {
		panic("labelshift: Interval of a panel that Consult did not make")
	}
	o, err := o.withDefaults(len(m.present.class))
	if err != nil {
		return nil, err
	}
	s := &spread{}
	if s.replicates, err = m.bootstrap(o); err != nil {
		return nil, err
	}
	for _, e := range p.dissenters() {
		s.dissent = append(s.dissent, m.present.gather(e.Proportions))
	}
	return m.interval(s, o.Level), nil
}

// spread is different opinions on the proportions of the present classes.
type spread struct {
	replicates, dissent [][]float64
}

const (
	// relativeDeviation and leastDeviationOfShare are what a share is off by
	// however little the members differ: a twentieth of it and a thousandth.
	// Without, intervals of 90 % held 80 % of the shares on cytometry.
	relativeDeviation     = 0.05
	leastDeviationOfShare = 1e-3
)

// modelFloor is the least variance of a share p for the model's sake.
func modelFloor(p float64) float64 {
	return relativeDeviation*relativeDeviation*p*p + leastDeviationOfShare*leastDeviationOfShare
}

// interval puts what the opinions differ by around the estimate.
func (m *match) interval(s *spread, level float64) *Interval {
	z := distuv.UnitNormal.Quantile((1 + level) / 2)
	n := len(m.proportions)
	v := &Interval{Level: level, Lower: make([]float64, n), Upper: make([]float64, n), Deviation: make([]float64, n),
		Bootstrap: deviations(s.replicates), Model: make([]float64, n)}
	for k, p := range m.proportions {
		v.Model[k] = math.Sqrt(meanSquare(s.dissent, k, p) + modelFloor(p))
		v.Deviation[k] = math.Hypot(v.Bootstrap[k], v.Model[k])
		v.Lower[k], v.Upper[k] = max(0, p-z*v.Deviation[k]), min(1, p+z*v.Deviation[k])
	}
	v.ExpectedError = math.Sqrt(2/math.Pi) * floats.Sum(v.Deviation) // of normal errors
	for _, values := range []*[]float64{&v.Lower, &v.Upper, &v.Deviation, &v.Bootstrap, &v.Model} {
		*values = m.present.spread(*values)
	}
	v.Region = m.region(s, level)
	return v
}

// meanSquare returns the mean over rows of the square of column k less p.
func meanSquare(rows [][]float64, k int, p float64) float64 {
	sum := 0.0
	for _, r := range rows {
		sum += (r[k] - p) * (r[k] - p) / float64(len(rows))
	}
	return sum
}

// deviations returns the standard deviation of each column of rows.
func deviations(rows [][]float64) []float64 {
	c := covariance(rows)
	d := make([]float64, c.SymmetricDim())
	for k := range d {
		d[k] = math.Sqrt(c.At(k, k))
	}
	return d
}

// covariance returns that of the columns of rows, of which there are two or
// more.
func covariance(rows [][]float64) *mat.SymDense {
	n, count := len(rows[0]), float64(len(rows))
	mean := make([]float64, n)
	for _, r := range rows {
		floats.AddScaled(mean, 1/count, r)
	}
	c := mat.NewSymDense(n, nil)
	for _, r := range rows {
		c.SymRankOne(c, 1/(count-1), mat.NewVecDense(n, floats.SubTo(make([]float64, n), r, mean)))
	}
	return c
}

const (
	// replicateGroup is how many replicates go through the rows together.
	replicateGroup = 8
	// replicateTolerance ends the steps of replicates, in L1: what a step still
	// changes is nothing beside what the replicates differ by.
	replicateTolerance = 1e-4
)

// bootstrap returns the proportions of each replicate.
func (m *match) bootstrap(o IntervalOptions) ([][]float64, error) {
	source := m.sourceSample(o)
	target := gather(m.target, sampleIndex(m.target.Rows, o.Rows, o.Seed))
	variance := float64(target.Rows) / float64(m.target.Rows)
	var proportions [][]float64
	for first := 0; first < o.Replicates; first += replicateGroup {
		var runs []*run
		for b := first; b < min(first+replicateGroup, o.Replicates); b++ {
			rng := rand.New(rand.NewPCG(o.Seed, uint64(replicateStream+b)))
			r, err := m.replicate(source, rng)
			if err != nil {
				return nil, err
			}
			r.weights = make([]float64, target.Rows)
			for i := range r.weights {
				r.weights[i] = exponential(rng, variance)
			}
			runs = append(runs, r)
		}
		if err := iterate(runs, target, m.options.Steps, replicateTolerance); err != nil {
			return nil, err
		}
		for _, r := range runs {
			proportions = append(proportions, r.proportions)
		}
	}
	return proportions, nil
}

// exponential returns a positive random number of mean 1 and the given variance,
// which is at most 1.
func exponential(rng *rand.Rand, variance float64) float64 {
	return 1 + math.Sqrt(variance)*(rng.ExpFloat64()-1)
}

// sourceSample is source rows of which each counts for several.
type sourceSample struct {
	x      blas32.General
	labels []int32
	counts []float64 // rows that one row of each class counts for
}

// sourceSample returns at most o.Rows rows of each class.
func (m *match) sourceSample(o IntervalOptions) sourceSample {
	classes := len(m.present.class)
	rows := make([][]int, classes)
	for i, l := range m.present.labels {
		rows[l] = append(rows[l], i)
	}
	s := sourceSample{counts: make([]float64, classes)}
	var index []int
	for k, all := range rows {
		sample := sampleIndex(len(all), o.Rows, o.Seed)
		s.counts[k] = float64(len(all)) / float64(len(sample))
		for _, i := range sample {
			index = append(index, all[i])
			s.labels = append(s.labels, int32(k))
		}
	}
	s.x = gather(m.source, index)
	return s
}

// replicate returns a run with class Gaussians of reweighted source rows that
// begins where the best run has ended.
func (m *match) replicate(s sourceSample, rng *rand.Rand) (*run, error) {
	weights := make([]float64, len(s.labels))
	for i, l := range s.labels {
		weights[i] = s.counts[l] * exponential(rng, 1/s.counts[l])
	}
	sums := classSums(s.x, s.labels, weights, len(s.counts))
	g := newGaussians(sums, monomials(s.x.Cols), m.options.Pooling)
	r, err := newRun(m.options.settings(), g, make([]float64, s.x.Cols))
	if err != nil {
		return nil, err
	}
	r.resume(m.runs[m.best])
	return r, nil
}
