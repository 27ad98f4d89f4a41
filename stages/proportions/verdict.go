package proportions

import (
	"fmt"

	"mars.dev/mars/stages/algorithms/unmix"
	"mars.dev/mars/stages/internal/diagnostics"
)

const (
	notYet       = "Do not believe these proportions yet: "
	adviceCheck  = "label some target rows by hand and compare (docs/how-to/doubts.md)"
	adviceLook   = "look at what each assumption or estimator alone would say (--details) before you rely on them"
	adviceLabels = "mars label gives each row its class"
	adviceKnown  = "compare with rows of which you know what they are made of"
)

// believe says whether to believe the estimate, why, and what to do next.
func (r *Report) believe(grounds string) {
	signs := diagnostics.Signs{ExpectedError: r.ExpectedError, Accuracy: 1, Against: true, Warned: len(r.Warnings) > 0}
	if r.Diagnostics != nil && r.Diagnostics.Hedge != nil {
		signs = r.Diagnostics.Hedge.Signs(r.ExpectedError, signs.Warned)
	}
	if r.Method == unmix.Method {
		signs.Against = len(r.Warnings) > 1 // what it assumes is no sign
	}
	r.Verdict = signs.Sentence("proportions", fmt.Sprintf("%s are expected to be counted for a wrong class (L1 error %.2f)", diagnostics.OfHundred(r.ExpectedError), r.ExpectedError))
	r.Judgement, r.Grounds = diagnostics.Judge(signs), grounds
	r.Advice = map[diagnostics.Verdict]string{diagnostics.Doubt: adviceCheck, diagnostics.Unjudged: adviceCheck,
		diagnostics.Care: adviceLook, diagnostics.Believe: adviceLabels}[r.Judgement]
	if r.Method == unmix.Method {
		r.Advice = adviceKnown
	}
}

// Doubtful reports whether labels of some target rows would settle what the report leaves open.
func (r *Report) Doubtful() bool {
	return r.Labelled == nil && r.Advice != adviceLabels && r.Advice != adviceKnown
}
