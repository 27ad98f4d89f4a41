package hedge

import (
	"slices"
	"testing"
)

// A class of fewer rows than are needed for small p-values gets the scores of all classes, in its own unit; others keep theirs.
func TestFewRowsBorrowScores(t *testing.T) {
	scores := func(n int, unit float32) []float32 {
		s := make([]float32, n)
		for i := range s {
			s[i] = unit * (1 + float32(i-n/2)/float32(4*n)) // the median is unit
		}
		return s
	}
	typical := typicality{classes: []classRows{{scores: scores(fineRows-1, 8)}, {scores: scores(fineRows, 2)}, {scores: scores(5, 0)}}}
	typical.refine()
	few, enough, alike := typical.classes[0].scores, typical.classes[1].scores, typical.classes[2].scores
	if !slices.Equal(enough, scores(fineRows, 2)) {
		t.Error("a class of enough rows has other scores now")
	}
	if !slices.Equal(alike, scores(5, 0)) {
		t.Error("a class whose rows are all alike has other scores now")
	}
	if len(few) != 2*fineRows-1 || few[len(few)/2] != 8 || few[0] != 8*(1-float32(fineRows/2)/float32(4*fineRows)) {
		t.Errorf("a class of few rows has %d scores from %v, of median %v", len(few), few[0], few[len(few)/2])
	}
}

// Of many scores those are kept that are evenly far apart in rank, with the largest.
func TestKeptScores(t *testing.T) {
	many := make([]float32, 4*maxScores)
	for i := range many {
		many[i] = float32(i + 1)
	}
	unit := many[len(many)/2]
	typical := typicality{classes: []classRows{{scores: many}, {scores: []float32{3}}}}
	typical.refine()
	got := typical.classes[1].scores
	if len(got) != maxScores {
		t.Fatalf("%d scores are kept, want %d", len(got), maxScores)
	}
	for i, s := range got {
		// One score more, the single row's, is among them.
		if want := 3 / unit * float32(4*(i+1)); s < want-6/unit || s > want+6/unit {
			t.Fatalf("score %d is %v, want about %v", i, s, want)
		}
	}
	if got[maxScores-1] != 3/unit*many[len(many)-1] && got[maxScores-1] != many[len(many)-1]/unit*3 {
		t.Errorf("the largest is %v", got[maxScores-1])
	}
}
