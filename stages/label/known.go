package label

import (
	"encoding/json"
	"io"

	"mars.dev/mars/stages/internal/diagnostics"
	"mars.dev/mars/tables/write"
)

// Known is what is known of labels as a whole, for programs: what the log says in words.
type Known struct {
	Rows    int          `json:"rows"`    // with a label
	Missing int          `json:"missing"` // rows without any value, which have no label
	Classes []KnownClass `json:"classes"` // that of the most rows first
	Levels  []KnownLevel `json:"levels,omitempty"`

	// Verdict says in words whether to believe them; "" where nobody can tell. Judgement is the same
	// in one word of the scale: believe, care, unjudged or doubt.
	Verdict   string              `json:"verdict"`
	Judgement diagnostics.Verdict `json:"judgement,omitempty"`

	ExpectedAccuracy *float64 `json:"expected_accuracy"` // 0 to 1; null where the method does not know it
	ExpectedError    *float64 `json:"expected_error"`    // of the estimated proportions, in L1
	// Proportions are the estimated shares of the model's classes, which are better than
	// counts of labels; null where the method estimates none.
	Proportions map[string]float64 `json:"proportions"`
	Assumptions []KnownAssumption  `json:"assumptions"`      // the heaviest first
	Untypical   *float64           `json:"untypical"`        // share of rows that are untypical of their class
	Unlike      []Unlike           `json:"unlike,omitempty"` // rows that are like none of the source, by their nearest class
	Warnings    []string           `json:"warnings"`

	Diagnostics json.RawMessage `json:"diagnostics,omitempty"` // as the stream has them
}

// KnownClass is what is known of the labels of a class.
type KnownClass struct {
	Class          string  `json:"class"`
	Rows           int     `json:"rows"`
	MeanConfidence float64 `json:"mean_confidence"`
	Doubtful       int     `json:"doubtful"` // rows whose confidence is below 0.6
}

// KnownAssumption is an assumption under which rows were labelled, and how much it counted.
type KnownAssumption struct {
	Name       string  `json:"name"`
	Assumption string  `json:"assumption"` // in words
	Weight     float64 `json:"weight"`
}

// Known says it once all labels have passed.
func (t *Tally) Known() *Known {
	k := &Known{
		Rows: t.rows, Missing: t.missing, Verdict: t.Verdict(), Judgement: t.Judgement(), ExpectedError: t.said.ExpectedError,
		Assumptions: []KnownAssumption{}, Warnings: append([]string{}, t.Warnings()...), Diagnostics: t.meta.Diagnostics,
	}
	k.Levels, k.Unlike = t.Levels(), t.Unlike()
	for _, name := range t.byRows() {
		c := t.classes[name]
		k.Classes = append(k.Classes, KnownClass{name, c.rows, c.confidence / float64(c.rows), c.doubtful})
	}
	if p := t.meta.TargetProportions; len(p) == len(t.meta.Classes) && p != nil {
		k.Proportions = map[string]float64{}
		for i, name := range t.meta.Classes {
			k.Proportions[name] = p[i]
		}
	}
	if h := t.said.Hedge; h != nil {
		k.ExpectedAccuracy, k.Untypical = t.ExpectedAccuracy(), &h.Untypical
		for _, a := range h.Assumed() {
			k.Assumptions = append(k.Assumptions, KnownAssumption{a.Name, a.Words, a.Weight})
		}
	}
	return k
}

// WriteJSON writes it as one object.
func (k *Known) WriteJSON(w io.Writer) error { return write.Object(w, k) }
