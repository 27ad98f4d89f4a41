package diagnostics

import (
	"fmt"
	"math"

	"mars.dev/mars/stages/algorithms/selftrain"
)

// Thresholds beyond which self-training warns. docs/measured/images.md says what they rest
// on.
const (
	minFirstKept = 0.6 // of the target's rows
	maxMoved     = 0.1 // of p_T, in L1
)

// SelfTraining is about labels that a network gave the target's rows to train on.
type SelfTraining struct {
	FirstKept float64 `json:"first_kept"` // share of the rows with a label, by the source alone
	Kept      float64 `json:"kept"`       // at the end
	Agreement float64 `json:"agreement"`  // share of the rows that keep their class when changed at random
	Doubt     float64 `json:"doubt"`      // mean of 1 − the greatest posterior
	Moved     float64 `json:"moved"`      // L1 distance of the first p_T from the last
	warned
}

// NewSelfTraining is the part of a report.
func NewSelfTraining(r *selftrain.Report) *SelfTraining {
	s := &SelfTraining{FirstKept: r.FirstKept, Kept: r.Kept, Agreement: r.Agreement, Doubt: r.Doubt, warned: warned{[]string{}}}
	for k, p := range r.Before {
		s.Moved += math.Abs(p - r.After[k])
	}
	if s.FirstKept < minFirstKept {
		s.warn("what was learnt on the source labels only %.0f %% of the target's rows with confidence (less than %.0f %%): the classes may look too different there, and later labels build on these",
			100*s.FirstKept, 100*minFirstKept)
	}
	if s.Moved > maxMoved {
		s.warn("the proportions have moved by %.2f in L1 since the first labels (more than %g): rows of a class may have become those of another", s.Moved, maxMoved)
	}
	return s
}

// Line says it in one line.
func (s *SelfTraining) Line() string {
	return fmt.Sprintf("self-training: %.1f %% of the rows labelled at first, %.1f %% at the end; %.1f %% keep their class when changed at random; mean doubt %.3f; p_T moved by %.3f in L1",
		100*s.FirstKept, 100*s.Kept, 100*s.Agreement, s.Doubt, s.Moved)
}
