package proportions

import (
	"fmt"
	"math"

	"mars.dev/mars/stages/algorithms/labelshift"
)

const (
	notYet       = "Do not believe these proportions yet: "
	adviceCheck  = "label some target rows by hand and compare (docs/how-to/doubts.md)"
	adviceLook   = "look at what each assumption or estimator alone would say (--details) before you rely on them"
	adviceLabels = "mars label gives each row its class"
)

// believe says whether to believe the estimate, why, and what to do next.
func (r *Report) believe(grounds string) {
	r.Verdict, r.Advice = verdict(r.ExpectedError, len(r.Warnings) > 0)
	r.Grounds = grounds
}

// Doubtful reports whether labels of some target rows would settle what the report leaves open.
func (r *Report) Doubtful() bool { return r.Labelled == nil && r.Advice != adviceLabels }

// verdict says in a sentence whether to believe proportions, and what to do next.
func verdict(expectedError float64, warned bool) (sentence, advice string) {
	about := fmt.Sprintf("%s are expected to be counted for a wrong class (L1 error %.2f).", ofHundred(expectedError), expectedError)
	switch {
	case expectedError > labelshift.Threshold:
		return notYet + about, adviceCheck
	case expectedError > labelshift.Care:
		return "Believe these proportions with care: " + about, adviceLook
	case warned:
		return "Believe these proportions with care, because of the warnings: " + about, adviceLook
	}
	return "These proportions can be believed: " + about, adviceLabels
}

// ofHundred says how many rows of a hundred have another class under proportions that are
// an L1 distance apart: each such row counts twice there.
func ofHundred(l1 float64) string {
	if n := math.Round(50 * l1); n >= 1 {
		return fmt.Sprintf("about %.0f of 100 rows", n)
	}
	return "less than 1 of 100 rows"
}
