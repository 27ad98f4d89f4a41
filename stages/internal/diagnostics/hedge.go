package diagnostics

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mars.dev/mars/internal/spelling"
	"mars.dev/mars/stages/algorithms/hedge"
	"mars.dev/mars/stages/algorithms/labelshift"
)

// Thresholds beyond which an answer under several assumptions warns.
const (
	minExpectedAccuracy = 0.6
	maxAbsent           = 0.01 // upper bound of the share of a class that may be absent
	absentShare         = 1e-3 // its share, at most
	maxAbsentPart       = 0.5  // of an even share, beside which maxAbsent is much where classes are many
	maxUntypical        = 0.15 // share of untypical rows; a twentieth is expected
	maxNew              = 0.05 // share of rows of no class of the source, if these have stayed
	minTrust            = 0.5  // from which on they are said to have stayed
	minShown            = 0.02 // weight of a view that is shown in a line
	maxMissing          = 0.05 // share of rows without any value
)

// Hedge is about the assumptions that an answer is the mean of.
type Hedge struct {
	Views            []hedge.View `json:"views"`
	ExpectedAccuracy float64      `json:"expected_accuracy"` // of labels, 0 to 1
	Novelty          float64      `json:"novelty"`           // share of target rows far from the source
	// Untypical is the share of target rows whose typicality is below 0.05, which a
	// twentieth of known rows have.
	Untypical float64 `json:"untypical"`
	// Missing is the share of target rows that have no value at all, and Unknown how much of what
	// could be known of the target is not: hedge.Evidence.
	Missing float64 `json:"missing,omitempty"`
	Unknown float64 `json:"unknown,omitempty"`
	// Still is what the source alone says for rows that stay where they are.
	Still hedge.Still `json:"still"`
	// Stays says whether the classes have stayed where they are.
	Stays hedge.Stays `json:"stays"`
	// Noise is what the target has and the source was given; nil if there is none.
	Noise *hedge.Noise `json:"noise,omitempty"`
	warned
}

// OfHedge is what an answer under several assumptions says of itself.
func OfHedge(m *hedge.Model) *Diagnostics {
	d := &Diagnostics{Estimator: hedge.Method, Estimators: map[string][]float64{}, ExpectedError: &m.Evidence.ExpectedError,
		Hedge: &Hedge{Views: m.Views, ExpectedAccuracy: m.Evidence.ExpectedAccuracy, Novelty: m.Novelty, Untypical: m.Evidence.Untypical, Missing: m.Evidence.Missing, Unknown: m.Evidence.Unknown, Still: m.Still, Stays: m.Stays, Noise: m.Noise}}
	for _, v := range m.Views {
		d.Estimators[v.Name] = v.Proportions
	}
	h := d.Hedge
	h.Words = append(h.Words, m.Warnings...)
	if h.Missing > 0 {
		h.Words = append(h.Words, MissingRows(h.Missing))
	}
	switch far := 100 * m.Novelty; {
	case m.Strange():
		h.warn("nearly no row of the target lies where the source has rows (%.0f %% are farther off than nearly all of its own): nothing is known of their classes", far)
	case m.Far():
		h.warn("%.0f %% of the target's rows lie where the source has none: the classes are taken to have moved there without changing places, which only labels can show", far)
	}
	if h.Stays.Undecided() {
		h.warn("rows that have all moved alike explain the target about as well as new proportions, and both give other answers: labels of some rows would tell")
	}
	if doubt := labelshift.Doubt(m.Evidence.ExpectedError); doubt != "" {
		h.Words = append(h.Words, doubt)
	}
	if a := m.Evidence.ExpectedAccuracy; a < minExpectedAccuracy {
		h.warn("only %.0f %% of the labels are expected to be right: check some of them before relying on them", 100*a)
	}
	switch u := h.Untypical; {
	case h.Stayed() && h.Stays.New > maxNew:
		h.warn("%.0f %% of the target's rows seem to be of no class of the source, and are counted as one of them: mars label --unknown marks such rows", 100*h.Stays.New)
	case u > maxUntypical:
		h.Words = append(h.Words, UntypicalRows(u))
	}
	if m.Interval != nil {
		h.warnAbsent(m)
	}
	return d
}

// warnAbsent warns of classes whose greatest share is next to nothing: beside that of an even class
// too, of which 50 and more have so little.
func (h *Hedge) warnAbsent(m *hedge.Model) {
	lower, upper := m.Interval.Lower, m.Interval.Upper
	even := 1 / float64(len(m.Classes))
	var absent []int
	var names []string
	most := 0.0
	for k, class := range m.Classes {
		if upper[k] < min(maxAbsent, maxAbsentPart*even) && lower[k] == 0 && m.Proportions[k] < min(absentShare, maxAbsentPart*even) {
			absent, names, most = append(absent, k), append(names, class), max(most, upper[k])
		}
	}
	if len(absent) > spelling.MaxNamed {
		h.warn("%d classes seem to be absent from the target, with shares of at most %.2g %%: %s", len(absent), 100*most, spelling.List(names))
		return
	}
	for i, k := range absent {
		h.warn("class %s seems to be absent from the target: its share is at most %.1f %%", names[i], 100*upper[k])
	}
}

// Stayed reports whether nothing in the target speaks against classes that have stayed
// where they are.
func (h *Hedge) Stayed() bool { return h.Stays.Trust >= minTrust }

// MissingRows says what a share of target rows without any value means for the answer.
func MissingRows(share float64) string {
	return fmt.Sprintf("%.1f %% of the target's rows have no value at all: the shares are those of the others, as if values were missing in all classes alike, and the intervals hold whatever class such rows are of", 100*share)
}

// UntypicalRows says what a share of target rows that are untypical of their class means; "" where it
// means nothing.
func UntypicalRows(share float64) string {
	if share <= maxUntypical {
		return ""
	}
	return fmt.Sprintf("%.0f %% of the target's rows are unlike the source's rows of their class (%.0f %% would be if nothing is new): the target may have a class that the source lacks; mars label --unknown marks such rows", 100*share, 100*hedge.UntypicalRate)
}

// Signs are what a verdict rests on.
func (h *Hedge) Signs(expectedError float64, warned bool) Signs {
	return Signs{ExpectedError: expectedError, Accuracy: 1, Undecided: h.Stays.Undecided(), Warned: warned,
		Against: h.Unknown >= 0.5 || h.Missing > maxMissing || h.Stayed() && h.Stays.New > maxNew || h.Untypical > maxUntypical}
}

// Chosen reports whether the classes seem to have stayed, but rows to have been chosen by their
// columns.
func (h *Hedge) Chosen() bool {
	return h.Stayed() && h.Still.Overlap() > 0.5 && h.Stays.Tilted()
}

// assumptions are the views in words.
var assumptions = map[string]string{
	"same":     "nothing has changed",
	"balance":  "only the proportions have changed",
	"together": "all rows have moved alike",
	"classes":  "each class has moved by itself",
	"parts":    "each part of a class has moved by itself",
}

// Assumption says in words what a view assumes.
func Assumption(view string) string { return cmp.Or(assumptions[view], view) }

// An Assumed is an assumption with what it counts for.
type Assumed struct {
	Name, Words string
	Weight      float64
	Back        float64 // share of the source's labels that come back
}

// Assumed are the assumptions, the heaviest first.
func (h *Hedge) Assumed() (all []Assumed) {
	for _, v := range h.ByWeight() {
		all = append(all, Assumed{v.Name, Assumption(v.Name), v.Weight, v.Circle})
	}
	return all
}

// ByWeight returns the views, the heaviest first.
func (h *Hedge) ByWeight() []hedge.View {
	views := slices.Clone(h.Views)
	slices.SortStableFunc(views, func(a, b hedge.View) int { return cmp.Compare(b.Weight, a.Weight) })
	return views
}

// Noisy says in words that the source was given the target's noise; "" if it was not.
func (h *Hedge) Noisy() string {
	if h.Noise == nil {
		return ""
	}
	return fmt.Sprintf("The target has noise in %s that the source has not, at most %.1f times the deviation within a class: the source was given the same noise",
		spelling.Count(h.Noise.Columns, "column", "columns"), h.Noise.Ratio)
}

// Held says in words what holds the rows still, or moves them; "" if nothing does.
func (h *Hedge) Held() string {
	switch {
	case h.Chosen():
		return fmt.Sprintf("But a linear function of the columns tells the target's rows from the source's in the new proportions (%.1f standard deviations from chance): rows seem to have been chosen by their columns, so it counts more that nothing has changed", h.Stays.Linear)
	case h.Stayed():
		return ""
	case h.Stays.Rivalled():
		return fmt.Sprintf("Rows that have all moved alike explain the target better than new proportions (by %.1f standard deviations), so the assumptions that nothing has moved count less", h.Stays.Rival)
	case h.Still.Overlap() > 0.5:
		return fmt.Sprintf("The source's classes overlap (a classifier is only %.0f %% of the way from chance to right): a movement could not be seen, so it counts little", 100*h.Still.Separation)
	case h.Stays.Inside > 0.5:
		return "The target's rows lie where the source has rows, but others of them: rows seem to have been chosen by their columns, so movements count less"
	case h.Still.FewValued > 0.5:
		return fmt.Sprintf("%.0f %% of the columns have few values, and rows of few values seldom move: movements count less", 100*h.Still.FewValued)
	}
	return ""
}

// back says what share of the source's labels come back under a view, where that is in its weight.
func (h *Hedge) back(v hedge.View) string {
	if h.Stays.Trust == 1 {
		return ""
	}
	return fmt.Sprintf(": %.0f %% of the source's labels come back", 100*v.Circle)
}

// Line says it in one line.
func (h *Hedge) Line() string {
	var parts []string
	for _, v := range h.ByWeight() {
		if v.Weight >= minShown {
			parts = append(parts, fmt.Sprintf("%s (weight %.2f%s)", Assumption(v.Name), v.Weight, h.back(v)))
		}
	}
	why := ""
	if n := h.Noisy(); n != "" {
		why = ". " + n
	}
	if h.Stayed() {
		why += ". The source's classes explain the target where they are"
	}
	if held := h.Held(); held != "" {
		why += ". " + held
	}
	return fmt.Sprintf("assumed: %s%s. %.0f %% of the labels are expected to be right; %.0f %% of the rows are untypical of their class (%.0f %% would be if nothing is new)",
		strings.Join(parts, "; "), why, 100*h.ExpectedAccuracy, 100*h.Untypical, 100*hedge.UntypicalRate)
}
