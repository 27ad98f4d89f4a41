package proportions

import (
	"slices"

	"mars.dev/mars/stages/algorithms/labelshift"
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
	// Before is the estimate without the labels, and ErrorBefore what it was expected to be off by,
	// in L1. The report's own is that of the draws.
	Before      []float64 `json:"before"`
	ErrorBefore float64   `json:"expected_error_before"`
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
	// Missing is the share of target rows that have no value at all, which may be of any class.
	Missing float64 `json:"missing,omitempty"`
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
	Estimate []float64 `json:"estimate"` // of what the model says once it has learnt from the labels, brought into the intervals and to shares that add up to 1
	Lambda   float64   `json:"lambda"`   // how far the model's posteriors are heeded
}

// Accuracy is the share of labels that are right, of all rows and of those that get each class.
type Accuracy struct {
	RightShare
	Classes []ClassAccuracy `json:"classes"`
}

// A RightShare is of rows whose label is right, with intervals.
type RightShare struct {
	Rows  int      `json:"rows"`  // that a person has labelled, of those whose share it is
	Share *float64 `json:"share"` // nil without such rows
	ppi.Interval
	Holds ppi.Interval `json:"holds"` // whatever has shifted
}

// ClassAccuracy is that of the rows that get the label of a class.
type ClassAccuracy struct {
	Class string `json:"class"`
	RightShare
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
	level, e := r.Interval.Level, r.evidence
	l := &Labelled{Rows: len(rows.Class), Drawn: rows.Plan.Rows(), Level: level, Simultaneous: simultaneous, NewClasses: append([]string{}, rows.Fresh()...), Gaps: append([]int{}, rows.Gaps...)}
	r.widen(rows.Classes)
	l.Before = slices.Clone(r.Proportions.Estimated)
	each := level
	if simultaneous {
		each = ppi.Bonferroni(level, len(r.Classes))
	}
	learner := rows.Learner(e, r.ExpectedError)
	s := rows.Sample(e, learner)
	l.Uniform, l.Chosen = s.Uniform, l.Rows-s.Uniform
	l.Holds = guaranteed(rows, e.Rows, s.Uniform, each, nil, len(rows.Classes))
	estimate := s.Difference(each)
	l.Sharper = Sharper{Bounds: boundsOf("difference", l.Rows, estimate.Intervals), Lambda: estimate.Lambda}
	l.weigh(rows, e, rows.Reweigh(e.Views))
	l.Accuracy = accuracy(rows, e, s, level)
	l.Sharper.Estimate = ppi.Project(learner.Shares(estimate, s.Total), estimate.Intervals)
	l.ErrorBefore, r.ExpectedError, r.Proportions.Estimated = r.ExpectedError, estimate.ExpectedError(), l.Sharper.Estimate
	if l.Missing = float64(rows.Missing) / float64(rows.Total); l.Missing > 0 {
		for _, b := range []Bounds{l.Holds, l.Sharper.Bounds} {
			labelshift.Widen(b.Lower, b.Upper, l.Missing)
		}
		r.ExpectedError = labelshift.MissingError(r.ExpectedError, l.Missing)
	}
	r.Interval = Interval{Level: level, Lower: l.Sharper.Lower, Upper: l.Sharper.Upper}
	r.boundLevels(rows, e, s, simultaneous)
	for _, b := range r.bounds {
		if l.Missing > 0 {
			labelshift.Widen(b.Lower, b.Upper, l.Missing)
			labelshift.Widen(b.holds.Lower, b.holds.Upper, l.Missing)
		}
	}
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

func boundsOf(method string, rows int, intervals []ppi.Interval) Bounds {
	b := Bounds{Method: method, Rows: rows}
	for _, v := range intervals {
		b.Lower, b.Upper = append(b.Lower, v.Lower), append(b.Upper, v.Upper)
	}
	return b
}

// guaranteed are the intervals that hold whatever has shifted, of so many classes: the rows', or those of
// which these are parts. Uniform rows that were passed over may be of any class.
func guaranteed(rows *labelled.Rows, total, uniform int, level float64, of []int, classes int) Bounds {
	reached, _ := rows.Reached()
	counts := make([]int, classes)
	for i, row := range rows.Answers.Labelled {
		k := rows.Class[i]
		if of != nil {
			k = of[k]
		}
		if row.Part == ppi.Uniform {
			counts[k]++
		}
	}
	var intervals []ppi.Interval
	for _, n := range counts {
		intervals = append(intervals, ppi.Exact(n, n+reached-uniform, reached, total, level))
	}
	return boundsOf("clopper-pearson", reached, intervals)
}

// weigh says what the labels make of the assumptions.
func (l *Labelled) weigh(rows *labelled.Rows, e *labelled.Evidence, after []float64) {
	l.Views, l.Refuted = []ViewWeight{}, []Refuted{}
	for i, v := range e.Views {
		l.Views = append(l.Views, ViewWeight{v.Name, v.Weight, after[i]})
	}
	for _, v := range rows.Refuted(e.Views) {
		l.Refuted = append(l.Refuted, Refuted{v.Name, diagnostics.Assumption(v.Name), v.P})
	}
}

// accuracy is that of the model's guesses without the labels.
func accuracy(rows *labelled.Rows, e *labelled.Evidence, s *ppi.Sample, level float64) *Accuracy {
	of := make([][]int, len(e.Guessed)) // indices of labelled rows, by guess
	said, all, sure := e.Posteriors(e.Weights()), []int{}, 0.0
	for i, p := range said {
		guess := slices.Index(p, slices.Max(p))
		of[guess], all = append(of[guess], i), append(all, i)
	}
	for _, v := range e.Sure {
		sure += v
	}
	a := &Accuracy{RightShare: rightShare(rows, s, said, all, sure, e.Rows, level), Classes: []ClassAccuracy{}}
	for k, some := range of {
		a.Classes = append(a.Classes, ClassAccuracy{rows.Classes[k], rightShare(rows, s, said, some, e.Sure[k], e.Guessed[k], level)})
	}
	return a
}

// rightShare is the share of right guesses among total rows, of whose confidence the sum is sure, by
// the labelled ones of some indices, of which said are the posteriors.
func rightShare(rows *labelled.Rows, s *ppi.Sample, said [][]float64, of []int, sure float64, total int, level float64) RightShare {
	share := RightShare{Rows: len(of), Interval: ppi.Interval{Lower: 0, Upper: 1}, Holds: ppi.Interval{Lower: 0, Upper: 1}}
	if len(of) == 0 {
		return share
	}
	part, hits, mean := &ppi.Sample{Total: total}, 0, []float64{sure / float64(total)}
	for _, i := range of {
		most := slices.Max(said[i])
		y := s.Y[i][slices.Index(said[i], most)]
		part.Y, part.F, part.Means = append(part.Y, []float64{y}), append(part.F, []float64{most}), append(part.Means, mean)
		part.Inclusion = append(part.Inclusion, s.Inclusion[i])
		if rows.Answers.Labelled[i].Part == ppi.Uniform {
			part.Uniform++
			hits += int(y)
		}
	}
	e := part.Difference(level)
	v := min(max(e.Value[0], e.Intervals[0].Lower), e.Intervals[0].Upper)
	share.Share, share.Interval = &v, e.Intervals[0]
	share.Holds = ppi.Exact(hits, hits, part.Uniform, total, level)
	return share
}
