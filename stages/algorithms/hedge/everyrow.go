package hedge

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
	"mars.dev/mars/stages/algorithms/labelshift"
)

// A fit looks at MaxRows rows of the target. With its classifiers and its views' weights as
// they are, the proportions of all rows need only sums over these, which may be taken of parts
// of the rows, anywhere, and added: that is what this file does. It takes a few passes, each
// at the Point to which the last one led.

// A Point is the proportions at which sums are taken: by classifier, nil where it has no
// weight.
type Point [][]float64

// Sums are what a pass over rows leaves.
type Sums struct {
	// EM has, by classifier, the sums of EM at the point; nil where it has no weight.
	EM []*labelshift.EMSums
	// Posteriors are the sums at p_S of the classifier of unmoved rows, of which the mean
	// posterior comes that still views need; nil if none has weight.
	Posteriors *labelshift.EMSums
}

// kept reports whether the classifier of a view was kept: others have a weight of next to nothing.
func (m *Model) kept(v View) bool {
	return m.classifiers[v.Classifier] != nil
}

// Start is the point at which the first pass takes sums: the fixed points of the rows that were
// fitted to. It fails for models of versions that did not keep them.
func (m *Model) Start() (Point, error) {
	point := make(Point, len(m.classifiers))
	for _, v := range m.Views {
		switch {
		case !m.kept(v) || v.belief().still:
		case v.FixedPoint == nil:
			return nil, errors.New("hedge: the model was made by a version that did not keep what sums over all rows begin with: make it again")
		default:
			point[v.Classifier] = slices.Clone(v.FixedPoint)
		}
	}
	for c := range point {
		if m.classifiers[c] != nil && point[c] == nil { // still views alone: any point does
			point[c] = slices.Clone(m.prior)
		}
	}
	return point, nil
}

// CheckPoint returns an error unless there are proportions for each classifier of the model.
func (m *Model) CheckPoint(point Point) error {
	if len(point) != len(m.classifiers) {
		return fmt.Errorf("hedge: the sums are of %d classifiers, and the model has %d", len(point), len(m.classifiers))
	}
	for c, p := range point {
		if (p == nil) != (m.classifiers[c] == nil) {
			return errors.New("hedge: the sums are of other classifiers than the model's")
		}
		if p != nil {
			if err := checkShares("point", p, len(m.Classes)); err != nil {
				return fmt.Errorf("hedge: %w", err)
			}
		}
	}
	return nil
}

// NewSums returns sums of no rows.
func (m *Model) NewSums() *Sums {
	s := &Sums{EM: make([]*labelshift.EMSums, len(m.classifiers))}
	for c := range s.EM {
		if m.classifiers[c] != nil {
			s.EM[c] = labelshift.NewEMSums(len(m.Classes))
		}
	}
	if m.classifiers[0] != nil {
		s.Posteriors = labelshift.NewEMSums(len(m.Classes))
	}
	return s
}

// AddSums adds the sums of other rows at the same point.
func (s *Sums) AddSums(o *Sums) {
	for c := range s.EM {
		if s.EM[c] != nil {
			s.EM[c].AddSums(o.EM[c])
		}
	}
	if s.Posteriors != nil {
		s.Posteriors.AddSums(o.Posteriors)
	}
}

// Rows is the number of rows that were added.
func (s *Sums) Rows() int64 {
	for _, em := range s.EM {
		if em != nil {
			return em.Rows
		}
	}
	return 0
}

// Respond adds prepared rows z to the sums at the point. What a row adds does not depend on
// the rows beside it. It returns ctx.Err() if ctx ends.
func (m *Model) Respond(ctx context.Context, s *Sums, point Point, z blas32.General) error {
	return kernel.Each(len(m.classifiers), func(c int) error {
		if m.classifiers[c] == nil {
			return nil
		}
		for lo := 0; lo < z.Rows; lo += blockRows {
			if err := ctx.Err(); err != nil {
				return err
			}
			p := m.classifiers[c].Predict(dense.Rows(z, lo, min(lo+blockRows, z.Rows)))
			if err := s.EM[c].Add(p, m.prior, point[c]); err != nil {
				return err
			}
			if c == 0 && s.Posteriors != nil {
				if err := s.Posteriors.Add(p, m.prior, m.prior); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Next returns the point to which the sums at a point lead, and the largest of the classifiers'
// steps there, in L1. A step is squared from one pass to the next, about.
func (m *Model) Next(s *Sums, point Point) (next Point, step float64, err error) {
	next = make(Point, len(point))
	for c, p := range point {
		if p == nil {
			continue
		}
		if next[c], err = s.EM[c].Next(p); err != nil {
			return nil, 0, fmt.Errorf("hedge: %w", err)
		}
		if m.iterates(c) {
			step = max(step, dense.L1(p, next[c]))
		}
	}
	return next, step, nil
}

// iterates reports whether a view needs the fixed point of a classifier.
func (m *Model) iterates(c int) bool {
	return slices.ContainsFunc(m.Views, func(v View) bool { return v.Classifier == c && !v.belief().still && m.kept(v) })
}

// Done reports whether a step of Next led to the fixed point, but for rounding.
func Done(step float64) bool { return step < labelshift.FixedTolerance }

// An EveryRow is what all rows say.
type EveryRow struct {
	Rows int64
	// Views are the model's with the proportions of all rows, and Proportions their weighted
	// mean: C values.
	Views       []View
	Proportions []float64
	// Sampling is the standard deviation of each share for which the number of rows is to
	// blame, at most: C values.
	Sampling []float64
	// GroupSampling is the same of the sums by Model.Groups.
	GroupSampling [][]float64
	Interval      *Interval
	Evidence      Evidence
}

// squares are those of deviations: their variances.
func squares(deviations []float64) []float64 {
	all := make([]float64, len(deviations))
	for k, d := range deviations {
		all[k] = d * d
	}
	return all
}

// Answer returns the proportions of all rows: of those whose sums s is, at a point that led to
// next. A view whose proportions are EM's fixed point (balance, together) gets that of all
// rows. One whose proportions are those of a match (classes, parts) keeps what the match
// says, and adds by how much the fixed point of all rows differs from that of the rows that
// were matched: so it is the fit's own answer if these are all rows. same gets the mean
// posterior of all rows. A view without a classifier, of a weight below 0.002, stays. level is
// that of the interval; 0 means 0.9.
func (m *Model) Answer(s *Sums, next Point, level float64) (*EveryRow, error) {
	if level == 0 {
		level = 0.9
	}
	if !(level > 0 && level < 1) {
		return nil, fmt.Errorf("hedge: an interval of level %v: give one between 0 and 1", level)
	}
	a := &EveryRow{Rows: s.Rows(), Views: slices.Clone(m.Views), Proportions: make([]float64, len(m.Classes)),
		Sampling: make([]float64, len(m.Classes)), Evidence: m.Evidence}
	for _, of := range m.Groups {
		a.GroupSampling = append(a.GroupSampling, make([]float64, slices.Max(of)+1))
	}
	for i := range a.Views {
		v := &a.Views[i]
		covariance := mat.NewSymDense(len(m.Classes), nil)
		if m.kept(*v) {
			var err error
			if covariance, err = m.answerView(v, s, next); err != nil {
				return nil, err
			}
		}
		for k, p := range v.Proportions {
			a.Proportions[k] += v.Weight * p
			a.Sampling[k] += v.Weight * math.Sqrt(covariance.At(k, k)) // as if the views erred alike
		}
		for l, of := range m.Groups {
			for g, variance := range ofSums(of, covariance) {
				a.GroupSampling[l][g] += v.Weight * math.Sqrt(variance)
			}
		}
	}
	dense.Normalize(a.Proportions)
	a.Evidence.Spread = 0
	for _, v := range a.Views {
		a.Evidence.Spread += v.Weight * dense.L1(v.Proportions, a.Proportions)
	}
	a.Interval = around(a.Proportions, a.Views, a.Evidence, squares(a.Sampling), level)
	return a, nil
}

// ofSums are the variances of sums by group of values with this covariance.
func ofSums(of []int, covariance *mat.SymDense) []float64 {
	all := make([]float64, slices.Max(of)+1)
	for j, g := range of {
		for k, h := range of {
			if g == h {
				all[g] += covariance.At(j, k)
			}
		}
	}
	for g := range all {
		all[g] = max(0, all[g]) // that of all classes is 0 but for rounding
	}
	return all
}

// answerView gives a view its proportions of all rows, and returns their sampling covariance.
func (m *Model) answerView(v *View, s *Sums, next Point) (*mat.SymDense, error) {
	if v.belief().still {
		v.Proportions = s.Posteriors.EMStep(m.prior)
		return m.meanCovariance(s.Posteriors, v.Proportions), nil
	}
	fixed := next[v.Classifier]
	covariance, err := s.EM[v.Classifier].Covariance(fixed)
	if err != nil {
		return nil, fmt.Errorf("hedge: view %s: %w", v.Name, err)
	}
	if !v.belief().apiece {
		v.Proportions, v.FixedPoint = slices.Clone(fixed), slices.Clone(fixed)
		return covariance, nil
	}
	moved := make([]float64, len(fixed))
	for k, p := range v.Proportions {
		moved[k] = max(0, p+fixed[k]-v.FixedPoint[k])
	}
	dense.Normalize(moved)
	v.Proportions, v.FixedPoint = moved, slices.Clone(fixed)
	return covariance, nil
}

// meanCovariance is that of the mean posterior: at p_S, g is posterior / p_S.
func (m *Model) meanCovariance(s *labelshift.EMSums, mean []float64) *mat.SymDense {
	all := mat.NewSymDense(len(mean), nil)
	for k, p := range m.prior {
		for j, q := range m.prior[:k+1] {
			product := p * q * s.Second[labelshift.SymIndex(j, k)].Float64() / float64(s.Rows)
			all.SetSym(j, k, (product-mean[j]*mean[k])/float64(s.Rows))
		}
		all.SetSym(k, k, max(0, all.At(k, k)))
	}
	return all
}

// With returns the model with the proportions, the evidence and the interval of all rows in the
// place of those of the rows that were fitted to.
func (m *Model) With(a *EveryRow) *Model {
	all := *m
	all.Views, all.Proportions, all.Evidence, all.Interval = a.Views, a.Proportions, a.Evidence, a.Interval
	all.Sampling, all.Rows = squares(a.Sampling), int(a.Rows)
	all.GroupSampling = nil
	for _, deviations := range a.GroupSampling {
		all.GroupSampling = append(all.GroupSampling, squares(deviations))
	}
	return &all
}

// Shares are those of the classes among the source's rows: C values. They are those of all of
// them where that was said (SourceShares), else of those that were fitted to.
func (m *Model) Shares() []float64 {
	if m.SourceShares != nil {
		return m.SourceShares
	}
	return m.prior
}
