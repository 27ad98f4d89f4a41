package ppi

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// A Sample is the labelled rows of a target, m of them, and what a model says of them.
type Sample struct {
	Y, F [][]float64 // m×C: truth, of 0 and 1, and the model's values, such as posteriors
	// Means are those of the model's values over all rows of the target, m×C: rows that differ in the
	// model that they are asked of differ in them (see CrossFit).
	Means     [][]float64
	Inclusion []float64 // m: probabilities with which the rows were drawn and labelled
	Uniform   int       // labelled rows of the uniform part
	Total     int       // rows of the target
}

// An Estimate is of the means of the columns of Y over all rows: C values of each.
type Estimate struct {
	Value []float64
	// Variance is that of the draws, and Floored the same with what no error among the uniform
	// draws can exclude (see floor).
	Variance, Floored []float64
	Lambda            float64 // how far the model's values are heeded, from 0 to 1
	Intervals         []Interval
}

const (
	// floor is how much of an error among the uniform draws is always added to the deviation: the
	// model may be wrong where no row was drawn.
	floor = 0.25
	// tuning is how many rows say that lambda is 1.
	tuning = 10
	// jeffreys is how many rows of either kind are added to the effective ones.
	jeffreys = 0.5
)

// Difference is the difference estimator of survey sampling (Särndal, Swensson & Wretman 1992)
// with Hájek's weights (1971) and power tuning (PPI++: Angelopoulos, Duchi & Zrnic 2023; for rows
// that the model chose: Zrnic & Candès 2024): the mean of lambda times the model's values over
// all rows, and the weighted mean of what they lack on the labelled ones. One lambda is for all
// columns, so that shares still add up to 1.
//
// The intervals are Jeffreys' of a binomial share on as many rows as have this variance (Korn &
// Graubard 1998), with Student's quantiles, and are kept to what the labelled rows themselves
// say. They need the probabilities of the draws alone, and no assumption about the change; for
// small samples they are approximate.
func (s *Sample) Difference(level float64) *Estimate {
	omega := s.weights()
	lambda := s.tuned(omega)
	e := s.at(lambda, omega)
	for k := range e.Value {
		e.Intervals = append(e.Intervals, s.known(k, jeffreysInterval(e.Value[k], e.Floored[k], len(s.Y), level)))
	}
	return e
}

// weights are in inverse proportion to the probabilities of the draws, and add up to 1.
func (s *Sample) weights() []float64 {
	omega, sum := make([]float64, len(s.Inclusion)), 0.0
	for i, p := range s.Inclusion {
		omega[i] = 1 / p
		sum += omega[i]
	}
	for i := range omega {
		omega[i] /= sum
	}
	return omega
}

// tuned is the lambda that makes the variance least, shrunk to 1.
func (s *Sample) tuned(omega []float64) float64 {
	m, covariance, variance, squares := float64(len(s.Y)), 0.0, 0.0, 0.0
	for k := range s.Y[0] {
		y, f := mean(omega, func(i int) float64 { return s.Y[i][k] }), mean(omega, func(i int) float64 { return s.apart(i, k) })
		for i, w := range omega {
			d := s.apart(i, k) - f
			covariance += w * w * (s.Y[i][k] - y) * d
			variance += w * w * d * d
		}
	}
	for _, w := range omega {
		squares += w * w
	}
	if variance <= 1e-15*squares {
		return 1
	}
	return min(max((covariance+tuning/m*variance)/(variance*(1+tuning/m)), 0), 1)
}

// apart is how far the model's value of a row is from its mean over all rows.
func (s *Sample) apart(i, k int) float64 { return s.F[i][k] - s.Means[i][k] }

// mean is a weighted mean.
func mean(omega []float64, of func(i int) float64) (sum float64) {
	for i, w := range omega {
		sum += w * of(i)
	}
	return sum
}

// at is the estimate at lambda, without intervals.
func (s *Sample) at(lambda float64, omega []float64) *Estimate {
	m, open := float64(len(s.Y)), 1-float64(len(s.Y))/float64(s.Total)
	e := &Estimate{Lambda: lambda}
	for k := range s.Y[0] {
		of := func(i int) float64 { return s.Y[i][k] - lambda*s.apart(i, k) }
		value, variance := mean(omega, of), 0.25*open
		if len(s.Y) > 1 {
			variance = 0
			for i, w := range omega {
				r := of(i) - value
				variance += m / (m - 1) * (1 - s.Inclusion[i]) * w * w * r * r
			}
		}
		least := floor / float64(max(s.Uniform, 1))
		e.Value = append(e.Value, value)
		e.Variance = append(e.Variance, variance)
		e.Floored = append(e.Floored, variance+least*least*open)
	}
	return e
}

// ExpectedError is what the estimate is expected to be off by, in L1, as draws are chance: the sum of
// the mean absolute deviations of normal values.
func (e *Estimate) ExpectedError() (sum float64) {
	for _, v := range e.Floored {
		sum += math.Sqrt(2 * v / math.Pi)
	}
	return min(sum, 2)
}

// known keeps an interval to what the labelled rows say: so many of all are of a class, so many are
// not.
func (s *Sample) known(k int, v Interval) Interval {
	count := 0.0
	for _, y := range s.Y {
		count += y[k]
	}
	n := float64(s.Total)
	least, most := count/n, 1-(float64(len(s.Y))-count)/n
	return Interval{min(max(v.Lower, least), most), min(max(v.Upper, least), most)}
}

// jeffreysInterval is that of a share on as many rows as give a binomial share this variance, m
// being labelled.
func jeffreysInterval(share, variance float64, m int, level float64) Interval {
	q := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(max(m-1, 1))}.Quantile((1 + level) / 2)
	z := normalQuantile(level)
	v := variance * (q / z) * (q / z)
	s, centre := min(math.Sqrt(v), 0.5), min(max(share, 0), 1)
	if v <= 0 {
		return Interval{centre, centre}
	}
	inner := min(max(share, s), 1-s)
	rows := inner * (1 - inner) / v
	a, b := centre*rows+jeffreys, rows-centre*rows+jeffreys
	return Interval{mathext.InvRegIncBeta(a, b, (1-level)/2), mathext.InvRegIncBeta(a, b, (1+level)/2)}
}

// Stopped are the inclusion probabilities of rows of which not all that were drawn have been
// labelled: of each part, so many of so many. They are given those of the whole.
func Stopped(probability []float64, total int, drawn, labelled [2]int) []float64 {
	p := make([]float64, len(probability))
	first, late := float64(drawn[Uniform])/float64(total), 0.0
	if drawn[Chosen] > 0 {
		late = float64(labelled[Chosen]) / float64(drawn[Chosen])
	}
	for i, whole := range probability {
		p[i] = float64(labelled[Uniform])/float64(total) + max((whole-first)*late, 0)
	}
	return p
}

// Project returns the point of the simplex that is nearest to x within the bounds, or without them
// where they leave none (Held, Wolfe & Crowder 1974).
func Project(x []float64, bounds []Interval) []float64 {
	lower, upper := 0.0, 0.0
	for _, v := range bounds {
		lower += v.Lower
		upper += v.Upper
	}
	clip := func(k int, v float64) float64 { return min(max(v, bounds[k].Lower), bounds[k].Upper) }
	if lower > 1 || upper < 1 {
		clip = func(_ int, v float64) float64 { return min(max(v, 0), 1) }
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range x {
		low, high = min(low, v-2), max(high, v+1)
	}
	point := make([]float64, len(x))
	for range 200 {
		middle, sum := (low+high)/2, 0.0
		for k, v := range x {
			point[k] = clip(k, v-middle)
			sum += point[k]
		}
		if sum > 1 {
			low = middle
		} else {
			high = middle
		}
	}
	return point
}

// Grouped is the sample of the sums of the columns by group, of which of says for each column the number.
func (s *Sample) Grouped(of []int) *Sample {
	sums := func(rows [][]float64) [][]float64 {
		all := make([][]float64, len(rows))
		for i, row := range rows {
			all[i] = make([]float64, slices.Max(of)+1)
			for k, v := range row {
				all[i][of[k]] += v
			}
		}
		return all
	}
	g := *s
	g.Y, g.F, g.Means = sums(s.Y), sums(s.F), sums(s.Means)
	return &g
}
