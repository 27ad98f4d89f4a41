package hedge

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"mars.dev/mars/stages/algorithms/internal/dense"
	"mars.dev/mars/stages/algorithms/internal/kernel"
)

// A view's weight is proportional to the exponential of its score: sharpness times
// its circle, plus moveScore for views that move the source's rows, plus noveltyScore
// times the share of novel rows (a target that lies where the source has no rows has
// moved), plus togetherScore for the view that moves all rows together. Views that move rows
// get overlapScore times the overlap of the source's classes and fewValuedScore times the
// share of its columns with few values. New proportions are seen badly in classes that overlap,
// and well in others: the view of them gets balanceScore times the overlap, and the view that
// nothing has changed sameScore times what is left.
const (
	sharpness      = 10
	moveScore      = -1
	noveltyScore   = 12
	maxNovelty     = 0.5
	togetherScore  = -1
	overlapScore   = -7
	fewValuedScore = -4
	balanceScore   = -3
	sameScore      = -1
	// Views that move rows get insideScore where the target seems to be other rows of the same kind.
	insideScore = -6
)

// weigh weights the views and takes their mean.
func (m *Model) weigh(ctx context.Context, f *fit, learners []*learner, posteriors []blas32.General) error {
	m.Novelty, m.Noise, m.Still = f.nearness.novelty(), f.heard, f.still()
	if f.heard != nil {
		m.Noise.Loudest = f.columns[f.heard.Loudest]
	}
	var err error
	if m.Stays, err = f.trust(m.Views, learners); err != nil {
		return err
	}
	m.Stays.Inside = inside(m.Novelty, m.Stays.Misfit, f.source.Cols)
	err = kernel.Each(len(m.Views), func(i int) (err error) {
		v := &m.Views[i]
		v.Circle, err = f.circle(ctx, learners[v.Classifier].rows, posteriors[i])
		return err
	})
	if err != nil {
		return err
	}
	if err := m.setWeights(f.Assume); err != nil {
		return err
	}
	m.Proportions = make([]float64, f.classes)
	for _, v := range m.Views {
		for k, p := range v.Proportions {
			m.Proportions[k] += v.Weight * p
		}
	}
	dense.Normalize(m.Proportions)
	return nil
}

// setWeights weights the views of these names, or all if there are none. Classes that
// have no parts are their own parts.
func (m *Model) setWeights(assume []string) error {
	scores, top := m.scores(), math.Inf(-1)
	for i, v := range m.Views {
		assumed := assume == nil || slices.Contains(assume, v.Name)
		if v.Name == "classes" && m.undivided() {
			assumed = assumed || slices.Contains(assume, "parts")
		}
		if !assumed {
			scores[i] = math.Inf(-1)
		}
		top = max(top, scores[i])
	}
	if math.IsInf(top, -1) {
		return fmt.Errorf("hedge: nothing can be found in the target under the assumption %s: choose another", strings.Join(assume, " or "))
	}
	sum := 0.0
	for _, s := range scores {
		sum += math.Exp(s - top)
	}
	for i := range m.Views {
		m.Views[i].Weight = math.Exp(scores[i]-top) / sum
	}
	m.trustRival()
	m.trustStays(assume)
	return nil
}

// trustRival takes weight from the views that move nothing, where movement explains the target
// better. It leaves them as they are if they are all there is.
func (m *Model) trustRival() {
	moved := 1 - m.Views[0].Weight - m.Views[1].Weight
	if moved <= 0 {
		return
	}
	left := falling(m.Stays.Rival, lastRival, sureRival)
	stay := left * (1 - moved)
	for i := range m.Views {
		if m.Views[i].moves() {
			m.Views[i].Weight *= (1 - stay) / moved
		} else {
			m.Views[i].Weight *= left
		}
	}
}

// trustStays gives the views that move nothing, as far as they may have weight, what the
// test of Stays says, and leaves the rest for all views. The circle alone would be against
// them where the target lacks a class, since the labels of that class can not come back.
func (m *Model) trustStays(assume []string) {
	may := func(i int) bool { return assume == nil || slices.Contains(assume, m.Views[i].Name) }
	same := max(falling(m.Stays.Change, 0, minChange), m.Still.Overlap()*max(leastSame, 1-falling(m.Stays.Linear, firstLinear, lastLinear)))
	switch {
	case !may(0) && !may(1):
		m.Stays.Trust = 0
	case !may(1):
		same = 1
	case !may(0):
		same = 0
	}
	for i := range m.Views {
		m.Views[i].Weight *= 1 - m.Stays.Trust
	}
	m.Views[0].Weight += m.Stays.Trust * same
	m.Views[1].Weight += m.Stays.Trust * (1 - same)
}

// undivided reports whether there is no view of the classes' parts.
func (m *Model) undivided() bool {
	return !slices.ContainsFunc(m.Views, func(v View) bool { return v.Name == "parts" })
}

// scores returns those of the views. The two that leave the rows where they are share
// the mean of their circles: the circle cannot tell apart what they differ by, the
// proportions.
func (m *Model) scores() []float64 {
	stay := (m.Views[0].Circle + m.Views[1].Circle) / 2
	overlap := m.Still.Overlap()
	scores := make([]float64, len(m.Views))
	for i, v := range m.Views {
		if !v.moves() {
			scores[i] = sharpness*stay + sameScore*(1-overlap)
			if v.Name == "balance" {
				scores[i] = sharpness*stay + balanceScore*overlap
			}
			continue
		}
		scores[i] = sharpness*v.Circle + insideScore*m.Stays.Inside + moveScore + noveltyScore*min(m.Novelty, maxNovelty) + overlapScore*overlap + fewValuedScore*m.Still.FewValued
		switch {
		case v.Name == "together":
			scores[i] += togetherScore
		case m.undivided(): // the view of the parts would be the same
			scores[i] += math.Ln2
		}
	}
	return scores
}
