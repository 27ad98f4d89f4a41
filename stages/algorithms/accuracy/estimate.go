package accuracy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/labelshift"
)

// Options of Fit. The zero value is usable.
type Options struct {
	Level float64 // of the intervals; 0 means 0.9
	Seed  uint64
}

const (
	// mostAgain is how many rows of the reference the calibration is fitted to again, replicates
	// times, to see how chance moves it.
	mostAgain  = 2_000
	replicates = 40
	// settledRows is so many rows of the reference that half is believed of how far its figures by
	// calibrated posteriors are from what they are: with few, isotonic functions are biased.
	settledRows = 1_000
	// mostDrawn is how many rows of a window get classes at random in each replicate.
	mostDrawn = 1_000
)

// A Reference is what is known of a classifier by rows with labels.
type Reference struct {
	Figures     Figures   // on the reference itself
	Interval    Interval  // of Figures, as rows are chance
	Proportions []float64 // of the classes

	deviation Figures // of Figures, as rows are chance

	classes    int
	hard       bool
	options    Options
	calibrator calibrator
	again      []calibrator // fitted to rows that were drawn again
	shrink     float64      // how much less far the calibrator is from the truth than these are from it
	spread     *spread
	lacking    Figures // what figures by calibrated posteriors lack
}

// Interval bounds figures, one by one.
type Interval struct{ Lower, Upper Figures }

// Fit learns from rows with labels, of two classes at least.
func Fit(ctx context.Context, rows Rows, labels []int32, o Options) (*Reference, error) {
	if o.Level == 0 {
		o.Level = 0.9
	}
	shares, err := labelshift.Shares(labels, rows.Posteriors.Cols)
	if err != nil {
		return nil, err
	}
	if n := there(shares); n < 2 {
		return nil, errors.New("has rows of one class alone, which do not say how the classes are confused: give labelled rows of all classes")
	}
	r := &Reference{Proportions: shares, classes: rows.Posteriors.Cols, hard: rows.Hard, options: o, spread: newSpread(rows, labels)}
	if err := r.calibrate(ctx, rows, labels); err != nil {
		return nil, err
	}
	r.measure(rows, labels)
	return r, nil
}

// there is how many classes have a share.
func there(shares []float64) (n int) {
	for _, p := range shares {
		if p > 0 {
			n++
		}
	}
	return n
}

// calibrate chooses a calibration and fits it, once to all rows and again to rows drawn from them.
func (r *Reference) calibrate(ctx context.Context, rows Rows, labels []int32) error {
	calibration := fitIsotonic
	if rows.Hard {
		calibration = fitTable
	}
	var err error
	if r.calibrator, err = calibration(ctx, rows.Posteriors, labels); err != nil {
		return err
	}
	n := min(len(labels), mostAgain)
	r.shrink = math.Sqrt(float64(n) / float64(len(labels)))
	rng, index := r.random(1), make([]int, n)
	for range replicates {
		for i := range index {
			index[i] = rng.IntN(len(labels))
		}
		again, err := calibration(ctx, dense.Gather(rows.Posteriors, index), dense.Pick(labels, index))
		if err != nil {
			return err
		}
		r.again = append(r.again, again)
	}
	return nil
}

// drawn are at most some of n rows.
func (r *Reference) drawn(n, most int) []int {
	return dense.Sample(n, most, func() *rand.Rand { return r.random(0) })
}

func (r *Reference) random(stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(r.options.Seed, stream))
}

// quantile is how many deviations an interval reaches.
func (r *Reference) quantile() float64 { return distuv.UnitNormal.Quantile((1 + r.options.Level) / 2) }

// measure makes the figures of the reference, with intervals by rows drawn again.
func (r *Reference) measure(rows Rows, labels []int32) {
	all := newCounter(rows)
	r.Figures = all.figures(known(labels, r.classes))
	r.lacking = all.figures(r.calibrator.Apply(rows.Posteriors))
	for j, v := range r.lacking {
		r.lacking[j] = (r.Figures[j] - v) / (1 + float64(len(labels))/settledRows)
	}
	some := r.drawn(len(labels), mostDrawn)
	part, of := rows.some(some), dense.Pick(labels, some)
	rng, index := r.random(2), make([]int, len(some))
	middle := newCounter(part).figures(known(of, r.classes))
	squares := make(Figures, len(middle))
	for range replicates {
		for i := range index {
			index[i] = rng.IntN(len(some))
		}
		again := newCounter(part.some(index)).figures(known(dense.Pick(of, index), r.classes))
		addSquares(squares, again, middle, 1./replicates)
	}
	floats.Scale(float64(len(some))/float64(len(labels)), squares)
	for j, v := range squares {
		squares[j] = math.Sqrt(v)
	}
	r.Interval = between(r.Figures, squares, r.quantile(), float64(len(labels)))
	r.deviation = squares
}

// addSquares adds those of the differences, but of figures that are not there.
func addSquares(sum, a, b Figures, weight float64) {
	for j := range sum {
		if d := a[j] - b[j]; d == d {
			sum[j] += weight * d * d
		}
	}
}

// between are intervals of so many deviations to either side. Shares are kept from 0 to 1, and have room
// for what n rows cannot show: the next one may be the first exception.
func between(f, deviation Figures, quantile, n float64) Interval {
	v := Interval{make(Figures, len(f)), make(Figures, len(f))}
	for j, middle := range f {
		off := max(quantile*deviation[j], 1/(n+2))
		v.Lower[j], v.Upper[j] = max(middle-off, 0), middle+off
		if j != LogLoss {
			v.Upper[j] = min(v.Upper[j], 1)
		}
	}
	return v
}

// An Assumption about what has changed since the reference.
type Assumption struct {
	Name    string
	Weight  float64
	Figures Figures
	// Posteriors are those of the window's rows under the assumption, by which the classes have the
	// Proportions; nil: as the calibration alone gives them.
	Posteriors  blas32.General
	Proportions []float64
	Right       float64 // the mean posterior of what is predicted
	Deviation   Figures // of Figures, by chance
	Doubt       float64 // the deviation of Figures for other reasons
}

// Under are the posteriors of other rows under an assumption about a window.
func (r *Reference) Under(a Assumption, rows Rows) blas32.General {
	posteriors := r.calibrator.Apply(rows.Posteriors)
	if a.Proportions != nil {
		correct(posteriors, ratios(a.Proportions, r.Proportions))
	}
	return posteriors
}

// ratios are target/source, 0 where the source is.
func ratios(target, source []float64) []float64 {
	all := make([]float64, len(source))
	for k, p := range source {
		if p > 0 {
			all[k] = target[k] / p
		}
	}
	return all
}

// Names of assumptions.
const (
	Same    = "same"
	Balance = "balance"
	Columns = "columns" // those of an Opinion
)

// An Opinion is what somebody else finds of rows of a window, who has not seen the classifier.
type Opinion struct {
	Rows       Rows
	Posteriors blas32.General // of the same rows
	Error      float64        // how far off it is expected to be, as a share of the rows
}

// An Estimate is what is to be expected of a window.
type Estimate struct {
	Figures     Figures
	Interval    Interval
	Assumptions []Assumption
	Proportions []float64 // of the classes, as the assumptions are weighed
	// Error is how far off the accuracy is expected to be, from 0 to 1.
	Error float64
	// Moved is the share of rows that would have to be elsewhere for the window to be spread as the
	// reference, and Unexplained the same once its classes have new proportions.
	Moved, Unexplained float64
}

// Leading is the assumption that counts most.
func (e *Estimate) Leading() Assumption {
	best := 0
	for i, a := range e.Assumptions {
		if a.Weight > e.Assumptions[best].Weight {
			best = i
		}
	}
	return e.Assumptions[best]
}

// Estimate says what is to be expected of rows of the same classes. shown is how many rows they
// stand for, if they are a sample. The opinion may be nil.
func (r *Reference) Estimate(ctx context.Context, rows Rows, shown int, opinion *Opinion) (*Estimate, error) {
	if rows.Posteriors.Cols != r.classes || rows.Hard != r.hard {
		panic("accuracy: Estimate: rows are of another kind than the reference's")
	}
	if len(rows.Predicted) == 0 {
		return nil, errors.New("accuracy: there are no rows")
	}
	same := r.calibrator.Apply(rows.Posteriors)
	em, err := labelshift.EM(same, r.Proportions, labelshift.EMOptions{Tolerance: 1e-6, Accelerate: true})
	if err != nil {
		return nil, fmt.Errorf("accuracy: %w", err)
	}
	v, err := labelshift.NewRowInterval(same, r.Proportions, em.Proportions, labelshift.RowIntervalOptions{})
	if err != nil {
		return nil, fmt.Errorf("accuracy: %w", err)
	}
	counter := newCounter(rows)
	e := &Estimate{Assumptions: []Assumption{
		{Name: Same, Posteriors: same},
		{Name: Balance, Posteriors: em.Responsibilities, Proportions: em.Proportions},
	}}
	for i := range e.Assumptions {
		a := &e.Assumptions[i]
		a.Figures = counter.figures(a.Posteriors)
		a.Right = a.Figures[Accuracy]
		a.Figures.correct(r.lacking)
	}
	window := r.spread.of(rows)
	e.Moved, _ = r.spread.apart(window, len(rows.Predicted), r.Proportions)
	unexplained, chance := r.spread.apart(window, len(rows.Predicted), em.Proportions)
	e.Unexplained = unexplained
	e.weigh(chance)
	r.deviate(e, rows, v.Deviation)
	if opinion != nil {
		r.heed(e, opinion)
	}
	r.answer(e, max(shown, len(rows.Predicted)))
	return e, ctx.Err()
}

// chancePart is how much of what chance makes is taken for something that new proportions do not explain.
const chancePart = 0.2

// weigh gives new proportions the square of the part of what has moved that they explain, beyond
// chance: new proportions of two classes explain something of any change.
func (e *Estimate) weigh(chance float64) {
	explained := 0.0
	if e.Moved > 0 {
		explained = max(1-(e.Unexplained+chancePart*chance)/e.Moved, 0)
		explained *= explained
	}
	e.Assumptions[0].Weight, e.Assumptions[1].Weight = 1-explained, explained
}

// deviate finds how far chance moves the figures: the rows of the reference, the proportions that
// EM has found, and the labels, of which there is but one a row.
func (r *Reference) deviate(e *Estimate, rows Rows, deviation []float64) {
	index := r.drawn(len(rows.Predicted), mostDrawn)
	some := rows.some(index)
	counter, rng := newCounter(some), r.random(3)
	labels := math.Sqrt(float64(len(index)) / float64(len(rows.Predicted)))
	for i := range e.Assumptions {
		a := &e.Assumptions[i]
		a.Deviation, a.Doubt = make(Figures, len(a.Figures)), doubtMoved*e.Moved+doubtUnexplained*e.Unexplained
		middle := counter.figures(dense.Gather(a.Posteriors, index))
		for _, c := range r.again {
			truth := c.Apply(some.Posteriors)
			if a.Proportions != nil {
				correct(truth, ratios(drawProportions(rng, a.Proportions, deviation), r.Proportions))
			}
			expected := counter.figures(truth)
			drawn := counter.figures(draw(rng, truth))
			for j := range a.Deviation {
				d := r.shrink*(expected[j]-middle[j]) + labels*(drawn[j]-expected[j])
				if d == d {
					a.Deviation[j] += d * d / replicates
				}
			}
		}
		for j, v := range a.Deviation { // no less than of the reference: calibrations to few rows vary less than they err
			a.Deviation[j] = max(math.Sqrt(v), r.deviation[j])
		}
	}
}

// heed adds what an opinion says. It and the others count by the inverse of how far off each is expected to be.
func (r *Reference) heed(e *Estimate, o *Opinion) {
	counter, rng := newCounter(o.Rows), r.random(4)
	a := Assumption{Name: Columns, Posteriors: o.Posteriors, Figures: counter.figures(o.Posteriors)}
	least := 1 / (float64(len(o.Rows.Predicted)) + 2)
	a.Right, a.Deviation, a.Doubt = a.Figures[Accuracy], make(Figures, len(a.Figures)), max(o.Error, least)
	for range replicates {
		addSquares(a.Deviation, counter.figures(draw(rng, o.Posteriors)), a.Figures, 1./replicates)
	}
	for j, v := range a.Deviation {
		a.Deviation[j] = math.Sqrt(v)
	}
	_, off := e.combine(Accuracy)
	a.Weight = max(off, least) / (max(off, least) + a.Doubt)
	for i := range e.Assumptions {
		e.Assumptions[i].Weight *= 1 - a.Weight
	}
	e.Assumptions = append(e.Assumptions, a)
}

// drawProportions are proportions that are as likely as those that were found.
func drawProportions(rng *rand.Rand, proportions, deviation []float64) []float64 {
	drawn := make([]float64, len(proportions))
	for k, p := range proportions {
		drawn[k] = max(p+deviation[k]*rng.NormFloat64(), 1e-9)
	}
	dense.Normalize(drawn)
	return drawn
}

// correct multiplies posteriors by ratios, and divides each row by its sum.
func correct(posteriors blas32.General, ratios []float64) {
	for i := range posteriors.Rows {
		row, sum := dense.Row(posteriors, i), float32(0)
		for k := range row {
			row[k] *= float32(ratios[k])
			sum += row[k]
		}
		for k := range row {
			row[k] /= max(sum, 1e-30)
		}
	}
}

// draw draws the class of each row.
func draw(rng *rand.Rand, posteriors blas32.General) blas32.General {
	out := dense.New(posteriors.Rows, posteriors.Cols)
	for i := range posteriors.Rows {
		row, at, left := dense.Row(posteriors, i), 0, rng.Float32()
		for left -= row[0]; left >= 0 && at < len(row)-1; left -= row[at] {
			at++
		}
		dense.Row(out, i)[at] = 1
	}
	return out
}

const (
	// doubtUnexplained and doubtMoved are the deviation of the accuracy for each row that would have to be
	// elsewhere. With them intervals of 90 % held on 84 to 98 % of tables of each kind of change
	// but for new classes and another rule.
	doubtUnexplained = 2.5
	doubtMoved       = 0.05
)

// Reweigh gives the assumptions of an estimate of n rows other weights, in their order.
func (r *Reference) Reweigh(e *Estimate, weights []float64, n int) {
	for i, w := range weights {
		e.Assumptions[i].Weight = w
	}
	r.answer(e, n)
}

// combine is the mean of a figure over the assumptions, and its deviation.
func (e *Estimate) combine(j int) (mean, deviation float64) {
	for _, a := range e.Assumptions {
		mean += a.Weight * a.Figures[j]
	}
	for _, a := range e.Assumptions {
		apart := a.Figures[j] - mean
		deviation += a.Weight * (a.Deviation[j]*a.Deviation[j] + a.Doubt*a.Doubt + apart*apart)
	}
	return mean, math.Sqrt(deviation)
}

// answer makes one answer of the assumptions.
func (r *Reference) answer(e *Estimate, n int) {
	count := len(e.Assumptions[0].Figures)
	e.Figures = make(Figures, count)
	deviation := make(Figures, count)
	for j := range e.Figures {
		e.Figures[j], deviation[j] = e.combine(j)
	}
	e.Proportions = make([]float64, r.classes)
	for _, a := range e.Assumptions {
		floats.AddScaled(e.Proportions, a.Weight, dense.ColumnMeans(a.Posteriors))
	}
	e.Interval = between(e.Figures, deviation, r.quantile(), float64(n))
	e.Error = max(math.Sqrt(2/math.Pi)*deviation[Accuracy], 1/(float64(n)+2)) // the next row may be the first exception
}
