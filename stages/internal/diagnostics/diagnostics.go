// Package diagnostics holds what the steps say of themselves: how far each can be
// believed, in numbers for programs and in words for people.
package diagnostics

import (
	"encoding/json"
	"fmt"
	"slices"

	"mars.dev/mars/arrowio"
	"mars.dev/mars/stages"
	"mars.dev/mars/stages/algorithms/labelshift"
)

// Diagnostics is what the stream's metadata say of how its proportions, weights and
// predictions came to be, under mars.diagnostics. Each step sets its own part,
// and passes on those of the columns that it passes on.
type Diagnostics struct {
	// Estimator is who estimated p_T last; "" before anyone has.
	Estimator string `json:"estimator,omitempty"`
	// Estimators are the proportions by each member of the panel; they and the
	// next three are there if it was asked.
	Estimators    map[string][]float64 `json:"estimators,omitempty"`
	ExpectedError *float64             `json:"expected_error,omitempty"` // in L1, 0 to 2
	Disagreement  *float64             `json:"disagreement,omitempty"`   // mean L1 distance, 0 to 2
	Alignment     *float64             `json:"alignment,omitempty"`      // L1 distance after alignment of the domains
	Warnings      []string             `json:"warnings"`                 // of the estimator; parts have their own
	// Doubts are what was said against the target's rows before they were looked at.
	Doubts []string `json:"doubts,omitempty"`

	Mixture     *Clustering  `json:"mixture,omitempty"`
	Matching    *Matching    `json:"matching,omitempty"`
	Weights     *Weights     `json:"weights,omitempty"`
	Translation *Translation `json:"translation,omitempty"`
	Bound       *Bound       `json:"bound,omitempty"`
	Hedge       *Hedge       `json:"hedge,omitempty"`

	SelfTraining *SelfTraining `json:"self_training,omitempty"`
}

// Read is what the metadata say; an empty value where they say
// nothing, or where whoever wrote them is not of this project.
func Read(meta arrowio.Meta) *Diagnostics {
	d := &Diagnostics{}
	if meta.Diagnostics == nil || json.Unmarshal(meta.Diagnostics, d) != nil {
		return &Diagnostics{}
	}
	return d
}

// Estimated returns d with the estimate of p_T and its weights replaced by what
// e says, which may be nil, and without what was found out by them.
func (d *Diagnostics) Estimated(e *Diagnostics) *Diagnostics {
	if e == nil {
		e = &Diagnostics{}
	}
	now := *e
	now.Mixture, now.Matching = d.Mixture, d.Matching
	return &now
}

// Parts are those that are there.
func (d *Diagnostics) Parts() (parts []Part) {
	for _, p := range []struct {
		Part
		there bool
	}{
		{d.Mixture, d.Mixture != nil},
		{d.Matching, d.Matching != nil},
		{d.Weights, d.Weights != nil},
		{d.Translation, d.Translation != nil},
		{d.Bound, d.Bound != nil},
		{d.Hedge, d.Hedge != nil},
		{d.SelfTraining, d.SelfTraining != nil},
	} {
		if p.there {
			parts = append(parts, p.Part)
		}
	}
	return parts
}

// AllWarnings are the doubts and the warnings of the estimator and of all parts.
func (d *Diagnostics) AllWarnings() []string {
	all := slices.Concat(d.Doubts, d.Warnings)
	for _, part := range d.Parts() {
		all = slices.Concat(all, part.Warnings())
	}
	return all
}

// LogPart tells the user.
func LogPart(env stages.Env, p Part) {
	env.Logger().Info(p.Line())
	for _, warning := range p.Warnings() {
		env.Logger().Warn(warning)
	}
}

// OfEstimate is what an estimate of p_T says of itself.
func OfEstimate(e *labelshift.Result) *Diagnostics {
	d := &Diagnostics{Estimator: e.Estimator, Warnings: e.Warnings}
	if e.Panel != nil {
		d.Estimators, d.ExpectedError = e.Panel.Estimates(), &e.Interval.ExpectedError
		d.Disagreement, d.Alignment = &e.Panel.Disagreement, &e.Panel.Alignment
	}
	return d
}

// Log tells the user of the estimate.
func (d *Diagnostics) Log(env stages.Env) {
	if d.ExpectedError != nil {
		env.Logger().Info(fmt.Sprintf("the proportions are expected to be off by %.3f in L1; above %.1f they are not to be believed", *d.ExpectedError, labelshift.Threshold))
	}
	for _, warning := range d.Warnings {
		env.Logger().Warn(warning)
	}
	if d.Hedge != nil {
		LogPart(env, d.Hedge)
	}
	if _, verdict := d.Labels(); verdict != "" {
		env.Logger().Info(verdict)
	}
}

// Labels says whether to believe labels, and in a sentence; "" where nobody can tell.
func (d *Diagnostics) Labels() (Verdict, string) {
	if d.Hedge == nil || d.ExpectedError == nil {
		return "", ""
	}
	signs := d.Hedge.Signs(*d.ExpectedError, len(d.AllWarnings()) > 0)
	signs.Accuracy = d.Hedge.ExpectedAccuracy
	return Judge(signs), signs.Sentence("labels", fmt.Sprintf("about %.0f of 100 rows are expected to have the right one", 100*signs.Accuracy))
}

// JSON is the metadata's value; nil where nothing is said.
func (d *Diagnostics) JSON() json.RawMessage {
	if d == nil || d.Estimator == "" && d.Parts() == nil {
		return nil
	}
	said := *d
	said.Warnings = append([]string{}, d.Warnings...)
	text, err := json.Marshal(said)
	if err != nil { // only a proportion that is NaN or infinite
		panic("diagnostics: " + err.Error())
	}
	return text
}
