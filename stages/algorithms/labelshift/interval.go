package labelshift

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"mars.dev/mars/stages/algorithms/internal/classes"
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
	// Groups are coarser classes, level by level: of each class the number of that of which it is a
	// part. Interval.Groups bounds their shares, which are sums.
	Groups [][]int
	// Seed draws weights and samples.
	Seed uint64
}

// withDefaults depends on the number of classes, with whose cube times rows and
// replicates the time grows.
func (o IntervalOptions) withDefaults(classes int) (IntervalOptions, error) {
	o.Level = cmp.Or(o.Level, 0.9)
	o.Replicates = cmp.Or(o.Replicates, min(200, max(50, 2_000/classes)))
	o.Rows = cmp.Or(o.Rows, min(5_000, max(1_000, 50_000_000/(classes*classes*classes))))
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
	// Groups are those of the sums by IntervalOptions.Groups, without more levels and a region.
	Groups []*Interval
}

const (
	// Threshold is the expected error above which proportions are not to be
	// believed, and Care that above which they are with care:
	// docs/estimators.md has how often that was right.
	Threshold = 0.2
	Care      = 0.1
)

// Warnings are the doubts of an interval.
func (v *Interval) Warnings() []string {
	if doubt := Doubt(v.ExpectedError); doubt != "" {
		return []string{doubt}
	}
	return nil
}

// Doubt is the warning about proportions of this expected error; "" if there is none.
func Doubt(expectedError float64) string {
	if expectedError <= Threshold {
		return ""
	}
	return fmt.Sprintf("the proportions are expected to be off by %.2f in L1 (more than %.1f): check labels of some target rows before relying on them", expectedError, Threshold)
}

// Interval returns intervals around the panel's proportions. To the variance of
// a bootstrap over the rows (see mte.MTE.Bootstrap) they add that of the model,
// without which they would be too narrow where it does not hold: the mean square
// of how far the members adapt and refit are off, which let the classes move as
// MTE does but in other ways, and the squares of relativeDeviation and
// minShareDeviation, for what all of them get wrong alike.
//
// docs/measured/estimators.md has how often the intervals held the truth.
func (p *Panel) Interval(ctx context.Context, o IntervalOptions) (*Interval, error) {
	present := p.fit.Present()
	o, err := o.withDefaults(len(present.Class))
	if err != nil {
		return nil, err
	}
	s := &spread{present: present, center: present.Of(p.Proportions()), rows: p.fit.Responsibilities.Rows}
	if s.replicates, err = p.fit.Bootstrap(ctx, o.Replicates, o.Rows, o.Seed); err != nil {
		return nil, err
	}
	for _, e := range p.peers() {
		s.peers = append(s.peers, present.Of(e.Proportions))
	}
	v := s.interval(o.Level)
	v.Region = s.region(o.Level)
	for _, of := range o.Groups {
		v.Groups = append(v.Groups, s.summed(of).interval(o.Level))
	}
	return v, nil
}

// summed is the spread of the sums by group: all that it has are shares.
func (s *spread) summed(of []int) *spread {
	n := slices.Max(of) + 1
	all := &spread{present: &classes.Present{Classes: n}, rows: s.rows}
	for g := range n {
		all.present.Class = append(all.present.Class, g)
	}
	sums := func(shares []float64) []float64 {
		sums := make([]float64, n)
		for k, p := range shares {
			sums[of[s.present.Class[k]]] += p
		}
		return sums
	}
	all.center = sums(s.center)
	for _, shares := range s.replicates {
		all.replicates = append(all.replicates, sums(shares))
	}
	for _, shares := range s.peers {
		all.peers = append(all.peers, sums(shares))
	}
	return all
}

// spread is an estimate of the proportions of the present classes, and the
// opinions around it.
type spread struct {
	present           *classes.Present
	center            []float64
	replicates, peers [][]float64
	rows              int // n_T
}

const (
	// relativeDeviation and minShareDeviation are what a share is off by
	// however little the members differ: a twentieth of it and a thousandth.
	// Without, intervals of 90 % held 80 % of the shares on cytometry.
	relativeDeviation = 0.05
	minShareDeviation = 1e-3
)

// modelFloor is the least variance of a share p for the model's sake.
func modelFloor(p float64) float64 {
	return relativeDeviation*relativeDeviation*p*p + minShareDeviation*minShareDeviation
}

// interval puts what the opinions differ by around the estimate.
func (s *spread) interval(level float64) *Interval {
	z := distuv.UnitNormal.Quantile((1 + level) / 2)
	n := len(s.center)
	v := &Interval{Level: level, Lower: make([]float64, n), Upper: make([]float64, n), Deviation: make([]float64, n),
		Bootstrap: deviations(s.replicates), Model: make([]float64, n)}
	for k, p := range s.center {
		v.Model[k] = math.Sqrt(meanSquare(s.peers, k, p) + modelFloor(p))
		v.Deviation[k] = math.Hypot(v.Bootstrap[k], v.Model[k])
		v.Lower[k], v.Upper[k] = max(0, p-z*v.Deviation[k]), min(1, p+z*v.Deviation[k])
	}
	v.ExpectedError = math.Sqrt(2/math.Pi) * floats.Sum(v.Deviation) // of normal errors
	for _, values := range []*[]float64{&v.Lower, &v.Upper, &v.Deviation, &v.Bootstrap, &v.Model} {
		*values = s.present.All(*values)
	}
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
