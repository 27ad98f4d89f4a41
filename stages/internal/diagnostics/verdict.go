package diagnostics

import (
	"fmt"
	"math"

	"mars.dev/mars/stages/algorithms/labelshift"
)

// A Verdict says whether to believe an answer.
type Verdict string

// The verdicts. The first two are to believe it.
const (
	Believe  Verdict = "believe"
	Care     Verdict = "care"     // look at the warnings, or at what each assumption alone would say
	Unjudged Verdict = "unjudged" // nothing speaks against it, but labels of the target alone can tell
	Doubt    Verdict = "doubt"    // do not believe it
)

// Signs are what a verdict rests on.
type Signs struct {
	ExpectedError float64 // of the proportions, in L1
	// Accuracy is the share of labels that are expected to be right; of proportions 1.
	Accuracy float64
	Against  bool // something in the target speaks against the answer
	Warned   bool // of anything else
}

// Judge is the one place where it is decided what is to be believed.
func Judge(s Signs) Verdict {
	off := s.ExpectedError > labelshift.Threshold || s.Accuracy < minExpectedAccuracy
	switch {
	case off && s.Against:
		return Doubt
	case off:
		return Unjudged
	case s.ExpectedError > labelshift.Care || s.Warned:
		return Care
	}
	return Believe
}

// Sentence says the verdict on things such as "proportions": about says how many are wrong.
func (s Signs) Sentence(what, about string) string {
	switch Judge(s) {
	case Doubt:
		return fmt.Sprintf("Do not believe these %s yet: %s.", what, about)
	case Unjudged:
		return fmt.Sprintf("These %s cannot be judged without labels of the target: %s.", what, about)
	case Care:
		why := ""
		if s.ExpectedError <= labelshift.Care {
			why = ", because of the warnings"
		}
		return fmt.Sprintf("Believe these %s with care%s: %s.", what, why, about)
	}
	return fmt.Sprintf("These %s can be believed: %s.", what, about)
}

// OfHundred says how many rows of a hundred have another class under proportions that are
// an L1 distance apart: each such row counts twice there.
func OfHundred(l1 float64) string {
	if n := math.Round(50 * l1); n >= 1 {
		return fmt.Sprintf("about %.0f of 100 rows", n)
	}
	return "less than 1 of 100 rows"
}
