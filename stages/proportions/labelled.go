package proportions

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"mars.dev/mars/stages/algorithms/ppi"
	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/stages/internal/labelled"
)

// Labels are rows of the target that a person has labelled.
type Labels = labelled.Options

// Labelled is what the labels of some target rows say. Slices have a value a class, in the order of
// the report's Classes.
type Labelled struct {
	Rows    int `json:"rows"`  // with a label
	Drawn   int `json:"drawn"` // that were to be labelled
	Uniform int `json:"uniform"`
	Chosen  int `json:"chosen"` // of Rows, by part
	// Level is that of all intervals; Simultaneous says that those of the shares hold for all
	// classes at once.
	Level        float64 `json:"level"`
	Simultaneous bool    `json:"simultaneous"`
	// Before is the estimate without the labels.
	Before []float64 `json:"before"`
	// Holds are intervals that hold whatever has shifted, by the uniform rows alone.
	Holds Bounds `json:"holds"`
	// Sharper are those of the difference estimator over all labelled rows.
	Sharper Sharper `json:"sharper"`
	// Accuracy is that of the labels that are given without these.
	Accuracy *Accuracy `json:"accuracy"`
	// Views are the weights of the assumptions, and Refuted the assumptions under which such
	// labels would be rare.
	Views   []ViewWeight `json:"views"`
	Refuted []Refuted    `json:"refuted"`
	// Gaps are the orders of rows without a label before the last one with one.
	Gaps       []int    `json:"gaps"`
	NewClasses []string `json:"new_classes"`
}

// Bounds are intervals.
type Bounds struct {
	Method string    `json:"method"`
	Rows   int       `json:"rows"` // by which they are
	Lower  []float64 `json:"lower"`
	Upper  []float64 `json:"upper"`
}

// Sharper is what the difference estimator says.
type Sharper struct {
	Bounds
	Estimate []float64 `json:"estimate"` // before it is brought to the views and to shares that add up to 1
	Lambda   float64   `json:"lambda"`   // how far the model's posteriors are heeded
}

// Accuracy is the share of labels that are right.
type Accuracy struct {
	Share
	Holds   ppi.Interval    `json:"holds"` // whatever has shifted
	Classes []ClassAccuracy `json:"classes"`
}

// A Share has an interval.
type Share struct {
	Share float64 `json:"share"`
	ppi.Interval
}

// ClassAccuracy is that of the rows that get the label of a class.
type ClassAccuracy struct {
	Class string `json:"class"`
	Rows  int    `json:"rows"` // labelled ones
	Share
}

// ViewWeight is how much an assumption weighs without the labels, and with them.
type ViewWeight struct {
	Name   string  `json:"name"`
	Before float64 `json:"before"`
	After  float64 `json:"after"`
}

// Refuted is an assumption that the labels speak against: P is the probability of labels no
// likelier than these if it were right.
type Refuted struct {
	Name       string  `json:"name"`
	Assumption string  `json:"assumption"`
	P          float64 `json:"p"`
}

// heedLabels makes the report one of the labels.
func (r *Report) heedLabels(rows *labelled.Rows, simultaneous bool) {
	known, level, e := len(r.Classes), r.Interval.Level, r.evidence
	l := &Labelled{Rows: len(rows.Class), Drawn: rows.Plan.Rows(), Level: level, Simultaneous: simultaneous, NewClasses: append([]string{}, rows.Fresh()...), Gaps: append([]int{}, rows.Gaps...)}
	r.widen(rows.Classes)
	l.Before = slices.Clone(r.Proportions.Estimated)
	each := level
	if simultaneous {
		each = ppi.Bonferroni(level, len(r.Classes))
	}
	s := sampleOf(rows, e)
	l.Uniform, l.Chosen = s.Uniform, l.Rows-s.Uniform
	l.holds(rows, e.Rows, each)
	estimate := s.Difference(each)
	l.Sharper = Sharper{Bounds: boundsOf("difference", l.Rows, estimate.Intervals), Estimate: estimate.Value, Lambda: estimate.Lambda}
	after := e.Reweighed(rows)
	l.weigh(rows, e, after)
	l.Accuracy = accuracy(rows, e, s, level)
	r.Proportions.Estimated = ppi.Project(estimate.Blend(e.Mean(after), known, r.ExpectedError), estimate.Intervals)
	r.Interval = Interval{Level: level, Lower: l.Sharper.Lower, Upper: l.Sharper.Upper}
	r.Labelled = l
	r.believeLabels()
}

// widen gives the report classes that the source lacks.
func (r *Report) widen(classes []string) {
	more := make([]float64, len(classes)-len(r.Classes))
	r.Classes = classes
	for _, shares := range []*[]float64{&r.Proportions.Source, &r.Proportions.Estimated, &r.Interval.Lower, &r.Interval.Upper} {
		*shares = append(slices.Clone(*shares), more...)
	}
	for name, p := range r.Estimators {
		r.Estimators[name] = append(slices.Clone(p), more...)
	}
}

// sampleOf is the labelled rows as the estimator takes them, with the model's posteriors.
func sampleOf(rows *labelled.Rows, e *labelled.Evidence) *ppi.Sample {
	classes := len(rows.Classes)
	s := &ppi.Sample{F: labelled.Widened(e.Posteriors(e.Weights()), classes), Total: e.Rows, Means: make([]float64, classes)}
	copy(s.Means, e.Mean(e.Weights()))
	var probabilities []float64
	for i, row := range rows.Answers.Labelled {
		y := make([]float64, classes)
		y[rows.Class[i]] = 1
		s.Y, probabilities = append(s.Y, y), append(probabilities, row.Probability)
		if row.Part == ppi.Uniform {
			s.Uniform++
		}
	}
	drawn, done := [2]int{rows.Plan.Uniform, rows.Plan.Chosen}, [2]int{s.Uniform, len(s.Y) - s.Uniform}
	s.Inclusion = ppi.Stopped(probabilities, s.Total, drawn, done)
	return s
}

func boundsOf(method string, rows int, intervals []ppi.Interval) Bounds {
	b := Bounds{Method: method, Rows: rows}
	for _, v := range intervals {
		b.Lower, b.Upper = append(b.Lower, v.Lower), append(b.Upper, v.Upper)
	}
	return b
}

// holds makes the intervals that hold whatever has shifted. Uniform rows that were passed over
// may be of any class.
func (l *Labelled) holds(rows *labelled.Rows, total int, level float64) {
	reached, _ := rows.Reached()
	counts := make([]int, len(rows.Classes))
	for i, row := range rows.Answers.Labelled {
		if row.Part == ppi.Uniform {
			counts[rows.Class[i]]++
		}
	}
	var intervals []ppi.Interval
	for _, n := range counts {
		intervals = append(intervals, ppi.Exact(n, n+reached-l.Uniform, reached, total, level))
	}
	l.Holds = boundsOf("clopper-pearson", reached, intervals)
}

// weigh says what the labels make of the assumptions.
func (l *Labelled) weigh(rows *labelled.Rows, e *labelled.Evidence, after []float64) {
	l.Views, l.Refuted = []ViewWeight{}, []Refuted{}
	for i, v := range e.Views {
		l.Views = append(l.Views, ViewWeight{v.Name, v.Weight, after[i]})
		if p := ppi.Refute(labelled.Widened(v.Labelled, len(rows.Classes)), rows.Class); p*float64(len(e.Views)) < refuted && len(e.Views) > 1 {
			l.Refuted = append(l.Refuted, Refuted{v.Name, diagnostics.Assumption(v.Name), p})
		}
	}
}

// refuted is the p-value, times the number of assumptions, below which one is called refuted.
const refuted = 0.05

// accuracy is that of the model's guesses without the labels.
func accuracy(rows *labelled.Rows, e *labelled.Evidence, s *ppi.Sample, level float64) *Accuracy {
	known := len(e.Guessed)
	guesses, right := make([]int, len(s.F)), make([]bool, len(s.F))
	var all []int
	reached, _ := rows.Reached()
	hits := 0
	for i, f := range s.F {
		guesses[i] = slices.Index(f, slices.Max(f[:known]))
		right[i] = guesses[i] == rows.Class[i]
		all = append(all, i)
		if right[i] && rows.Answers.Labelled[i].Part == ppi.Uniform {
			hits++
		}
	}
	sure := 0.0
	for _, v := range e.Sure {
		sure += v
	}
	a := &Accuracy{Share: rightShare(rows, s, right, all, sure, e.Rows, level), Holds: ppi.Exact(hits, hits+reached-s.Uniform, reached, e.Rows, level), Classes: []ClassAccuracy{}}
	for k := range known {
		var of []int
		for i, guess := range guesses {
			if guess == k {
				of = append(of, i)
			}
		}
		if len(of) == 0 {
			continue
		}
		a.Classes = append(a.Classes, ClassAccuracy{rows.Classes[k], len(of), rightShare(rows, s, right, of, e.Sure[k], e.Guessed[k], level)})
	}
	return a
}

// rightShare is the share of right guesses among total rows, of whose confidence the sum is sure, by
// the labelled ones of some indices.
func rightShare(rows *labelled.Rows, s *ppi.Sample, right []bool, of []int, sure float64, total int, level float64) Share {
	part := &ppi.Sample{Means: []float64{sure / float64(total)}, Total: total}
	for _, i := range of {
		y := 0.0
		if right[i] {
			y = 1
		}
		part.Y, part.F, part.Inclusion = append(part.Y, []float64{y}), append(part.F, []float64{slices.Max(s.F[i])}), append(part.Inclusion, s.Inclusion[i])
		if rows.Answers.Labelled[i].Part == ppi.Uniform {
			part.Uniform++
		}
	}
	e := part.Difference(level)
	v := e.Intervals[0]
	return Share{min(max(e.Value[0], v.Lower), v.Upper), v}
}

// believeLabels makes the verdict one of the labels.
func (r *Report) believeLabels() {
	l := r.Labelled
	width := 0.0
	for k := range r.Classes {
		width = max(width, r.Interval.Upper[k]-r.Interval.Lower[k])
	}
	r.Verdict = fmt.Sprintf("These proportions are by %s of the target: each is within %.0f points of the estimate, in %g of 100 such samples.", several(l.Rows, "label", "labels"), math.Ceil(100*width/2), 100*l.Level)
	r.Grounds = l.grounds()
	r.Advice = "mars label --labels labels each row"
	r.Warnings = l.warnings()
}

// grounds says what the labels say of the answer without them.
func (l *Labelled) grounds() string {
	off := distance(l.Before, l.Sharper.Estimate)
	parts := []string{fmt.Sprintf("%.0f %% of the labels that are given without these are right (%.0f to %.0f %%)", 100*l.Accuracy.Share.Share, 100*l.Accuracy.Lower, 100*l.Accuracy.Upper),
		fmt.Sprintf("the estimate without them was off by %s", ofHundred(off))}
	for _, v := range l.Refuted {
		parts = append(parts, fmt.Sprintf("that %s is refuted (p = %.2g)", v.Assumption, v.P))
	}
	return strings.Join(parts, "; ")
}

// warnings are what makes the labels doubtful.
func (l *Labelled) warnings() []string {
	all := []string{}
	if len(l.Gaps) > 0 {
		all = append(all, fmt.Sprintf("%s without a label before the last one with one: rows that somebody left out are no fair sample, and the sharper intervals are as if they had not been drawn", several(len(l.Gaps), "row is", "rows are")))
	}
	return all
}
